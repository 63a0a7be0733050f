//! Files larger than memory should be are read, searched and refused within bounds.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use serde_json::json;
use toolgate_core::error::ErrorKind;

use crate::alone::{growth_in_megabytes, run_alone};
use crate::harness::Lab;

const MEGABYTE: usize = 1024 * 1024;

/// Writes a file out of many equal pieces.
fn fill(lab: &Lab, path: &str, piece: &[u8], total: usize) {
    let mut file = BufWriter::new(File::create(lab.path(path)).unwrap());
    for _ in 0..total / piece.len() {
        file.write_all(piece).unwrap();
    }
    file.flush().unwrap();
}

#[test]
fn lines_near_the_end_of_a_large_file_cost_little_memory() {
    run_alone("huge_files::lines_near_the_end_of_a_large_file_cost_little_memory", || {
        let lab = Lab::new();
        let line = format!("{}\n", "x".repeat(99));
        fill(&lab, "large.txt", line.as_bytes(), 100 * MEGABYTE);
        let lines = 100 * MEGABYTE / line.len();
        // A first call loads what every call needs.
        lab.says("read_file", json!({ "path": "large.txt", "endLine": 1 }));
        let grown = growth_in_megabytes(|| {
            let args = json!({ "path": "large.txt", "startLine": lines - 2, "endLine": lines });
            assert_eq!(lab.says("read_file", args), line.repeat(3).trim_end());
        });
        assert!(grown < 32, "memory grew by {grown} MB");
    });
}

#[test]
fn one_line_of_half_a_gigabyte_is_refused_and_searched_around() {
    run_alone("huge_files::one_line_of_half_a_gigabyte_is_refused_and_searched_around", || {
        let lab = Lab::with([("small.txt", "find x here\n")]);
        fill(&lab, "huge.txt", &vec![b'x'; MEGABYTE], 500 * MEGABYTE);
        let grown = growth_in_megabytes(|| {
            let whole = lab.message(
                ErrorKind::FileTooLargeError,
                "read_file",
                json!({ "path": "huge.txt" }),
            );
            insta::assert_snapshot!(whole, @"`huge.txt` has 500.0 MB, and at most 10.0 MB are read at once; read a part of it with `startLine` and `endLine`, or search it with `grep`");
            let line = lab.message(
                ErrorKind::FileTooLargeError,
                "read_file",
                json!({ "path": "huge.txt", "endLine": 1 }),
            );
            insta::assert_snapshot!(line, @"these lines of `huge.txt` hold more than 10.0 MB (reached in line 1); ask for fewer lines, or search the file with `grep`");
            let found = lab.says("grep", json!({ "pattern": "find x" }));
            assert!(found.starts_with("small.txt:1: find x here\n"), "{found}");
            assert!(found.contains("[1 files or folders could not be searched]"), "{found}");
            let many = lab.says("read_many_files", json!({ "paths": ["huge.txt", "small.txt"] }));
            assert!(many.contains("=== small.txt ===\nfind x here\n"), "{many}");
        });
        assert!(grown < 200, "memory grew by {grown} MB");
    });
}
