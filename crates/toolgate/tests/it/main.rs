//! The command line, as scripts and people meet it.
#![expect(clippy::disallowed_methods, reason = "tests run the binary")]

#[cfg(test)]
mod accepted_rules;
#[cfg(test)]
mod approval_attacks;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod attacks;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod bound_files;
#[cfg(test)]
mod call;
#[cfg(test)]
mod classes;
#[cfg(test)]
mod client_yes;
#[cfg(test)]
mod clients;
#[cfg(test)]
mod completions;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod denied_reading;
#[cfg(test)]
mod discovered;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod everyday;
#[cfg(test)]
mod everyday_online;
#[cfg(test)]
mod exit_codes;
#[cfg(test)]
mod gateway;
#[cfg(test)]
mod gateway_conformance;
#[cfg(test)]
mod gateway_eras;
#[cfg(test)]
mod gateway_hostile;
#[cfg(test)]
mod gateway_many;
#[cfg(test)]
mod gateway_real;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod help;
#[cfg(test)]
mod hot_swap;
#[cfg(test)]
mod init;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod keeping_cli;
#[cfg(test)]
mod keeping_processes;
#[cfg(test)]
mod killing;
#[cfg(test)]
mod killing_records;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod mcp_approvals;
#[cfg(test)]
mod mcp_attacks;
#[cfg(test)]
mod mcp_client;
#[cfg(test)]
mod mcp_http;
#[cfg(test)]
mod mcp_inspector;
#[cfg(test)]
mod mcp_modern;
#[cfg(test)]
mod mcp_nobody;
#[cfg(test)]
mod mcp_python;
#[cfg(test)]
mod mcp_sdk;
#[cfg(test)]
mod missing;
#[cfg(test)]
mod modes;
#[cfg(test)]
mod notebook;
#[cfg(test)]
mod ordinary_work;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod pinned_programs;
#[cfg(test)]
mod policy_check;
#[cfg(test)]
mod policy_explain;
#[cfg(test)]
mod policy_files;
#[cfg(test)]
mod policy_import;
#[cfg(test)]
mod policy_permission;
#[cfg(test)]
mod policy_replay;
#[cfg(test)]
mod policy_test;
#[cfg(test)]
mod results;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod scopes;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod servers_login;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sh;
#[cfg(test)]
mod shell;
#[cfg(test)]
mod shell_cli;
#[cfg(test)]
mod shell_output;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod tools_list;
#[cfg(test)]
mod tools_of_others;
#[cfg(test)]
mod tools_schema;
#[cfg(test)]
mod tools_show;
#[cfg(test)]
mod tour;
#[cfg(test)]
mod trust;
#[cfg(test)]
mod understanding;
#[cfg(test)]
mod undo;
#[cfg(test)]
mod waiting;
#[cfg(test)]
mod web;
#[cfg(test)]
mod workshop;
