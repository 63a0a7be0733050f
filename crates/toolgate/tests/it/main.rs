//! The command line, as scripts and people meet it.
#![expect(clippy::disallowed_methods, reason = "tests run the binary")]

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod batch;
#[cfg(test)]
mod call;
#[cfg(test)]
mod completions;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod exit_codes;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod help;
#[cfg(test)]
mod killing;
#[cfg(test)]
mod modes;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod results;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod tools_list;
#[cfg(test)]
mod tools_schema;
#[cfg(test)]
mod tools_show;
