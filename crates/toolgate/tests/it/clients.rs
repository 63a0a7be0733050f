//! `toolgate mcp` and coding agents as their makers publish them, each with a scripted model on
//! loopback and a home of its own.

mod claude;
mod codex;
mod gemini;
mod opencode;
mod qwen;

mod checks;
mod forms;
mod model;
mod scene;
mod wire;
