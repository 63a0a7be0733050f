use proptest::prelude::*;

use super::*;

fn stamp(number: u64) -> Stamp {
    Stamp {
        inode: number,
        size: number * 3,
        modified: Moment { seconds: -5, nanos: 7 },
        changed: Moment { seconds: i64::MAX, nanos: 999_999_999 },
    }
}

fn entry(name: &[u8], kind: Kind, content: Content) -> Entry {
    Entry {
        name: OsStr::from_bytes(name).into(),
        kind,
        mode: 0o644,
        uid: 1000,
        gid: 100,
        stamp: stamp(u64::from(name.first().copied().unwrap_or(0))),
        is_settling: kind == Kind::Link,
        has_other_names: kind == Kind::File,
        content,
    }
}

fn folder(number: u64) -> Arc<Folder> {
    let hash = blake3::hash(&number.to_le_bytes());
    let folder = Folder {
        mode: 0o755,
        uid: 1,
        gid: 2,
        stamp: stamp(number),
        is_settling: number.is_multiple_of(2),
        listing: [Listing::Complete, Listing::Unreadable, Listing::TooMuch]
            [usize::try_from(number % 3).unwrap()],
        entries: vec![
            entry(b"\xff name\n", Kind::File, Content::Copied(hash)),
            entry(b"device", Kind::Special, Content::Unkept),
            Entry::folder(OsStr::new("folder")),
            entry(b"link", Kind::Link, Content::Copied(hash)),
        ],
        hidden: vec![
            HiddenEntry {
                name: OsStr::new(".git").into(),
                is_folder: true,
                why: Hidden::Repository("1,2".to_owned()),
            },
            HiddenEntry {
                name: OsStr::new("a.log").into(),
                is_folder: false,
                why: Hidden::Ignored,
            },
        ],
        rules: (number > 1).then(|| Rules { stamp: stamp(9), is_settling: number > 2 }),
        ..Folder::default()
    };
    Arc::new(folder.counted())
}

fn tree(numbers: &[u64]) -> Tree {
    let path = |number: &u64| Arc::from(Path::new(&format!("/w/{number}")));
    Tree {
        folders: numbers.iter().map(|number| (path(number), folder(*number))).collect(),
        surroundings: [3; 32],
    }
}

fn assert_same(one: &Tree, other: &Tree) {
    assert_eq!(one.folders, other.folders);
    assert_eq!(one.surroundings, other.surroundings);
}

#[test]
fn a_tree_is_the_same_after_writing_and_reading_it() {
    let first = tree(&[0, 1, 2, 3]);
    let mut second = first.clone();
    second.folders.remove(Path::new("/w/1"));
    second.folders.insert(Path::new("/w/2").into(), folder(8));
    second.folders.insert(Path::new("/w/9").into(), folder(9));
    second.surroundings = [4; 32];
    let mut bytes = whole(&first);
    let difference = difference(&first, &second);
    assert!(difference.len() < bytes.len());
    let mut read = Tree::default();
    assert_eq!(decode(&mut read, &bytes), Some(&[][..]));
    assert_same(&read, &first);
    bytes.extend(&difference);
    let rest = decode(&mut read, &bytes).unwrap();
    assert_eq!(decode(&mut read, rest), Some(&[][..]));
    assert_same(&read, &second);
}

#[test]
fn what_is_not_whole_is_not_read() {
    let bytes = whole(&tree(&[0, 1, 2]));
    for length in 0..bytes.len() {
        assert_eq!(decode(&mut Tree::default(), &bytes[..length]), None);
    }
    for at in (0..bytes.len()).step_by(7) {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1;
        assert_eq!(decode(&mut Tree::default(), &bytes), None);
    }
}

#[test]
fn another_version_of_the_format_is_not_read() {
    let mut writer = Writer(vec![0; HEAD]);
    let bytes = whole(&tree(&[0, 1]));
    writer.0.extend(&bytes[HEAD..]);
    writer.0[HEAD] = VERSION + 1;
    assert_eq!(decode(&mut Tree::default(), &writer.finish()), None);
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
        // With the right checksum, so that the payload is looked at.
        let mut writer = Writer(vec![0; HEAD]);
        writer.0.extend(payload);
        let bytes = writer.finish();
        decode(&mut Tree::default(), &bytes);
    }
}
