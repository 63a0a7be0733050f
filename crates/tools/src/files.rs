//! Reading and changing files.

pub mod delete_file;
pub mod edit_file;
pub mod read_file;
pub mod read_many_files;
pub mod write_file;
