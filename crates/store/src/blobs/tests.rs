use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn open() -> (tempfile::TempDir, Blobs) {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::open(&folder.path().join("snapshots")).unwrap();
    (folder, blobs)
}

fn only(blobs: &Blobs) -> Stored {
    let [stored] = <[Stored; 1]>::try_from(blobs.list().unwrap()).unwrap();
    stored
}

#[test]
fn the_same_content_is_kept_once_and_small() {
    let (_folder, blobs) = open();
    let text = "a line that repeats\n".repeat(1000);
    let first = blobs.keep(text.as_bytes(), Survive::Power).unwrap();
    assert_eq!(blobs.keep(text.as_bytes(), Survive::Process).unwrap(), first);
    assert_eq!(blobs.read(&first.hash.to_hex(), 1 << 20).unwrap(), text.as_bytes());
    let stored = only(&blobs);
    assert_eq!(stored.hash, first.hash.to_hex().as_str());
    assert!(stored.bytes < 2000, "{}", stored.bytes);
    assert_eq!(fs::read_dir(blobs.unfinished()).unwrap().count(), 0);
}

#[test]
fn only_the_owner_can_look() {
    let (_folder, blobs) = open();
    blobs.keep(b"secret", Survive::Process).unwrap();
    let stored = only(&blobs);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&stored.path), 0o600);
    assert_eq!(mode(stored.path.parent().unwrap()), 0o700);
    assert_eq!(mode(blobs.folder()), 0o700);
}

#[test]
fn large_contents_are_copied_as_they_are() {
    let (folder, blobs) = open();
    let content: Vec<u8> = (0..9_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
    let path = folder.path().join("large");
    fs::write(&path, &content).unwrap();
    let kept = blobs.keep_file(&File::open(&path).unwrap(), Survive::Process).unwrap();
    assert_eq!(kept.size, 9_000_000);
    let back = folder.path().join("back");
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(&back).unwrap();
    blobs.write_to(&kept.hash.to_hex(), &mut file).unwrap();
    assert!(fs::read(&back).unwrap() == content);
    blobs.verify(&kept.hash.to_hex()).unwrap();
    assert!(matches!(blobs.read(&kept.hash.to_hex(), 10), Err(BlobError::TooLarge { .. })));
}

#[test]
fn damage_is_noticed_wherever_it_is() {
    let (folder, blobs) = open();
    let kept = blobs.keep(&b"content ".repeat(100), Survive::Process).unwrap();
    let stored = only(&blobs);
    let whole = fs::read(&stored.path).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&stored.path, damaged).unwrap();
        let path = folder.path().join("back");
        let mut options = OpenOptions::new();
        let mut back =
            options.read(true).write(true).create(true).truncate(true).open(&path).unwrap();
        let written = blobs.write_to(&kept.hash.to_hex(), &mut back);
        // Some bits of a frame mean nothing; what is handed out is the content all the same.
        match blobs.read(&kept.hash.to_hex(), 1 << 20) {
            Ok(content) => assert_eq!(content, b"content ".repeat(100)),
            Err(error) => {
                assert!(matches!(error, BlobError::Damaged { .. }), "{error}");
                assert!(matches!(written, Err(BlobError::Damaged { .. })), "{written:?}");
                blobs.verify(&kept.hash.to_hex()).unwrap_err();
            }
        }
    }
    for length in 0..whole.len() {
        fs::write(&stored.path, &whole[..length]).unwrap();
        // The mark at the end of a frame may be missing when all before it is there.
        match blobs.read(&kept.hash.to_hex(), 1 << 20) {
            Ok(content) => assert_eq!(content, b"content ".repeat(100)),
            Err(error) => assert!(matches!(error, BlobError::Damaged { .. }), "{error}"),
        }
    }
}

#[test]
fn what_is_no_hash_names_no_file() {
    let (_folder, blobs) = open();
    for hash in ["", "ab", "../../../../etc/passwd", &"é".repeat(32), &"g".repeat(64)] {
        assert!(matches!(blobs.read(hash, 10), Err(BlobError::Missing { .. })), "{hash}");
    }
}

#[test]
fn many_may_keep_the_same_at_once() {
    let (_folder, blobs) = open();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for number in 0..50 {
                    let content = format!("content {number}");
                    let kept = blobs.keep(content.as_bytes(), Survive::Process).unwrap();
                    assert_eq!(blobs.read(&kept.hash.to_hex(), 100).unwrap(), content.as_bytes());
                }
            });
        }
    });
    assert_eq!(blobs.list().unwrap().len(), 50);
}
