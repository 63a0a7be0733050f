use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn makes_folder_and_file_for_the_owner_only() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("deep/state");
    let database = Database::open(&folder).unwrap();
    let journal: String =
        database.reader().query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    assert_eq!(journal, "wal");
    assert_eq!(mode(&folder), 0o700);
    for name in ["state.db", "state.db-wal", "state.db-shm"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
}

#[test]
fn takes_a_file_away_from_the_eyes_of_others() {
    let folder = tempfile::tempdir().unwrap();
    drop(Database::open(folder.path()).unwrap());
    let file = folder.path().join(FILE);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Database::open(folder.path()).unwrap());
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn reading_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    assert!(Database::open_existing(folder.path()).unwrap().is_none());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn many_may_make_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| Database::open(folder.path()).unwrap());
        }
    });
}

#[test]
fn a_newer_version_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    database.reader().pragma_update(None, "user_version", 99).unwrap();
    let error = Database::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("newer version of Toolgate (its tables are version 99"), "{error}");
    assert_eq!(schema::version(database.reader()).unwrap(), 99);
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(FILE);
    let garbage = "this is no database. ".repeat(1000);
    fs::write(&file, &garbage).unwrap();
    let error = Database::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("is damaged or no database"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), garbage);
}

#[test]
fn a_folder_that_is_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state");
    fs::write(&file, "").unwrap();
    let error = Database::open(&file).unwrap_err().to_string();
    assert!(error.contains(file.to_str().unwrap()), "{error}");
}

#[test]
fn who_waits_too_long_for_the_lock_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let holder = Database::open(folder.path()).unwrap();
    holder.reader().execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut other = Database::open_patiently(folder.path(), Duration::from_millis(20)).unwrap();
    let error = other.write(|_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("is in use by another process"), "{error}");
}

#[test]
fn a_file_without_room_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(folder.path()).unwrap();
    database.reader().pragma_update(None, "max_page_count", 1).unwrap();
    let written = database.write(|transaction| {
        transaction.execute_batch("CREATE TABLE big AS SELECT zeroblob(100000) AS content")
    });
    let error = written.unwrap_err().to_string();
    assert!(error.contains("the disk is full"), "{error}");
}

#[test]
fn a_failed_migration_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut database = Database::open(folder.path()).unwrap();
    let broken = database.write(|transaction| {
        transaction.execute_batch("CREATE TABLE half (a); CREATE TABLE entries (a)")
    });
    broken.unwrap_err();
    let halves = "SELECT count(*) FROM sqlite_schema WHERE name = 'half'";
    assert_eq!(database.reader().query_row(halves, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn what_acts_on_its_own_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::open(folder.path()).unwrap();
    let hides = "CREATE TRIGGER hides BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END";
    database.reader().execute_batch(hides).unwrap();
    let error = Database::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains("a trigger or view `hides` that is not ours"), "{error}");
    assert!(Database::open_existing(folder.path()).is_err());
}

#[test]
fn a_long_log_is_not_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let log = || fs::metadata(folder.path().join("state.db-wal")).map_or(0, |log| log.len());
    let mut database = Database::open(folder.path()).unwrap();
    let other = Database::open(folder.path()).unwrap();
    database.reader().execute_batch("CREATE TABLE notes (text)").unwrap();
    for number in 0..100 {
        let note = |rows: &Transaction<'_>| rows.execute("INSERT INTO notes VALUES (?)", [number]);
        database.write(note).unwrap();
    }
    assert!(log() > LONGEST_LOG);
    drop(database);
    assert_eq!(log(), 0);
    let count = "SELECT count(*) FROM notes";
    assert_eq!(other.reader().query_row(count, [], |row| row.get::<_, i64>(0)).unwrap(), 100);
}
