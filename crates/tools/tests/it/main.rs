//! What the built-in tools promise, through a real gate and on a real file system.

#[cfg(test)]
mod alone;
#[cfg(test)]
mod any_json;
#[cfg(test)]
mod describing;
#[cfg(test)]
mod dialects;
#[cfg(test)]
mod editing;
#[cfg(test)]
mod encodings;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod globbing;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod huge_files;
#[cfg(test)]
mod ignoring;
#[cfg(test)]
mod images;
#[cfg(test)]
mod knowing;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod notebooks;
#[cfg(test)]
mod obstacles;
#[cfg(test)]
mod pdfs;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod ripgrep;
#[cfg(test)]
mod searching;
#[cfg(test)]
mod settings;
#[cfg(test)]
mod web;
#[cfg(test)]
mod writing;
