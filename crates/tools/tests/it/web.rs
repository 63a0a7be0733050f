//! Fetching and searching, against servers on this machine that play the web.

mod asking;
mod charsets;
mod fetching;
mod hostile_pages;
mod hostile_servers;
mod pages;
mod private;
mod properties;
mod robots;
mod searching;
mod server;
mod site;
