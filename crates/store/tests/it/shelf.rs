//! What models keep: nothing lost, nothing doubled, nothing that is damaged read as nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use rusqlite::Connection;
use tempfile::TempDir;
use toolgate_core::context::Session;
use toolgate_core::keeping::{
    GoalFault, GoalId, GoalStatus, Goals, Memory as _, NewGoal, NewTodo, Reasoning as _, Scope,
    Stored, TodoFault, TodoId, TodoList, TodoStatus, Todos,
};
use toolgate_core::workspace::Workspace;
use toolgate_store::Shelf;

const HERE: &str = "/work/here";
const THERE: &str = "/work/there";

fn shelf() -> (TempDir, Shelf) {
    let state = tempfile::tempdir().unwrap();
    let shelf = Shelf::new(state.path());
    (state, shelf)
}

fn session(folder: &TempDir) -> Session {
    Session::new(Workspace::open(folder.path()).unwrap())
}

fn todo(task: &str) -> NewTodo {
    NewTodo { task: task.to_owned(), status: TodoStatus::Pending, active_form: None }
}

fn goal(title: &str, activate: bool) -> NewGoal {
    NewGoal { title: title.to_owned(), description: None, criteria: Vec::new(), activate }
}

fn list() -> TodoList {
    TodoList::of_workspace(HERE.as_ref())
}

fn open(folder: &Path) -> Connection {
    #[expect(clippy::disallowed_methods, reason = "whoever damages it does not ask the store")]
    Connection::open(folder.join("state.db")).unwrap()
}

#[test]
fn each_workspace_has_keys_of_its_own() {
    let (_state, shelf) = shelf();
    let (here, there) = (HERE.as_ref(), THERE.as_ref());
    assert_eq!(shelf.set(here, "k", "1").unwrap(), Stored::New);
    assert_eq!(shelf.set(there, "k", "2").unwrap(), Stored::New);
    assert_eq!(shelf.set(here, "k", "3").unwrap(), Stored::Replaced);
    assert_eq!(shelf.get(there, "k").unwrap().unwrap().value, "2");
    assert!(shelf.delete(here, "k").unwrap() && !shelf.delete(here, "k").unwrap());
    assert_eq!(shelf.keys(here).unwrap(), []);
    assert_eq!(shelf.workspaces().unwrap(), [Path::new(THERE)]);
}

#[test]
fn odd_keys_and_values_are_taken_to_the_letter() {
    let (_state, shelf) = shelf();
    let odd = [
        "%",
        "_",
        "a%",
        "A",
        "a",
        "../../x",
        "' OR 1=1 --",
        "ä",
        "a\u{308}",
        "💥",
        "fact",
        "\u{202e}",
    ];
    for (number, key) in odd.iter().enumerate() {
        shelf.set(HERE.as_ref(), key, &format!("{number}\0\u{1b}\r\n")).unwrap();
    }
    for (number, key) in odd.iter().enumerate() {
        let value = shelf.get(HERE.as_ref(), key).unwrap().unwrap().value;
        assert_eq!(value, format!("{number}\0\u{1b}\r\n"), "{key}");
    }
    assert_eq!(shelf.keys(HERE.as_ref()).unwrap().len(), odd.len());
}

#[test]
fn a_memory_has_an_end() {
    let (_state, shelf) = shelf();
    let value = "x".repeat(256 * 1024);
    for number in 0..256 {
        shelf.set(HERE.as_ref(), &number.to_string(), &value).unwrap();
    }
    let error = shelf.set(HERE.as_ref(), "one more", "x").unwrap_err().message;
    assert!(error.contains("full") && error.contains("`delete`"), "{error}");
    // What takes the place of something as large still fits.
    shelf.set(HERE.as_ref(), "0", &value).unwrap();
    shelf.set(THERE.as_ref(), "0", &value).unwrap();
}

#[test]
fn facts_are_remembered_once_in_each_scope_and_found_where_they_hold() {
    let (_state, shelf) = shelf();
    let (here, there) = (HERE.as_ref(), THERE.as_ref());
    let first = shelf.remember(here, "f", Scope::Workspace).unwrap();
    let again = shelf.remember(here, "f", Scope::Workspace).unwrap();
    assert!(first.is_new && !again.is_new && first.fact == again.fact);
    assert!(shelf.remember(there, "f", Scope::Workspace).unwrap().is_new);
    let own = shelf.remember(there, "f", Scope::User).unwrap().fact;
    assert!(!shelf.remember(here, "f", Scope::User).unwrap().is_new);
    assert_eq!(shelf.facts(here).unwrap(), [first.fact.clone(), own.clone()]);
    assert!(!shelf.forget(there, first.fact.number).unwrap(), "it is not theirs");
    assert!(shelf.forget(here, own.number).unwrap());
    assert_eq!(shelf.facts(here).unwrap(), [first.fact]);
    let later = shelf.remember(here, "g", Scope::User).unwrap().fact;
    assert!(later.number > own.number, "no number is used twice");
}

#[test]
fn todos_keep_their_ids_when_the_list_is_replaced() {
    let (_state, shelf) = shelf();
    for task in ["a", "b", "a"] {
        shelf.add(&list(), todo(task)).unwrap();
    }
    let done = NewTodo { status: TodoStatus::Completed, ..todo("b") };
    let new = vec![todo("new"), done, todo("a"), todo("a"), todo("a")];
    let after = shelf.replace(&list(), new).unwrap();
    let ids: Vec<i64> = after.iter().map(|todo| todo.id.0).collect();
    assert_eq!(ids, [4, 2, 1, 3, 5]);
    assert_eq!(after, Todos::list(&shelf, &list()).unwrap());
    shelf.replace(&list(), Vec::new()).unwrap();
    assert_eq!(shelf.add(&list(), todo("a")).unwrap().id, TodoId(6), "no id is used twice");
    assert_eq!(Todos::complete(&shelf, &list(), TodoId(1)), Err(TodoFault::NoSuch(TodoId(1))));
}

#[test]
fn a_session_that_can_be_joined_has_a_list_of_its_own() {
    let (_state, shelf) = shelf();
    let of = |id: &str| TodoList { session: Some(id.into()), ..list() };
    // None of these is the list of the workspace, or that of another.
    let ids = ["", "a", "session:a", "a%", "\0", "ä\n"];
    for (number, id) in ids.iter().enumerate() {
        shelf.add(&of(id), todo(&number.to_string())).unwrap();
    }
    for (number, id) in ids.iter().enumerate() {
        let found = Todos::list(&shelf, &of(id)).unwrap();
        let tasks: Vec<&str> = found.iter().map(|todo| todo.task.as_str()).collect();
        assert_eq!(tasks, [number.to_string()], "{id:?}");
    }
    assert_eq!(Todos::list(&shelf, &list()).unwrap(), []);
    let known: Vec<String> =
        shelf.sessions_with_todos(HERE.as_ref()).unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(known, ids);
}

#[test]
fn lists_have_an_end() {
    let (_state, shelf) = shelf();
    let many: Vec<NewTodo> = (0..10_000).map(|number| todo(&number.to_string())).collect();
    shelf.replace(&list(), many.clone()).unwrap();
    assert_eq!(shelf.add(&list(), todo("x")), Err(TodoFault::Full { most: 10_000 }));
    let more = many.into_iter().chain([todo("x")]).collect();
    assert_eq!(shelf.replace(&list(), more), Err(TodoFault::Full { most: 10_000 }));
    shelf.remove(&list(), TodoId(5_000)).unwrap();
    shelf.add(&list(), todo("x")).unwrap();
}

#[test]
fn one_goal_is_active_at_most() {
    let (state, shelf) = shelf();
    let session = session(&state);
    let root = session.workspace().root();
    let first = shelf.create(&session, goal("first", false)).unwrap();
    assert_eq!((first.goal.status, first.active), (GoalStatus::Active, None));
    let second = shelf.create(&session, goal("second", false)).unwrap();
    assert_eq!(second.goal.status, GoalStatus::Paused);
    assert_eq!(second.active.unwrap().id, first.goal.id);
    let third = shelf.create(&session, goal("third", true)).unwrap();
    assert_eq!(third.paused.unwrap().id, first.goal.id);
    let switched = shelf.switch(root, second.goal.id).unwrap();
    assert_eq!(switched.paused.unwrap().id, third.goal.id);
    let completed = Goals::complete(&shelf, root, None, Some("done")).unwrap();
    assert_eq!((completed.id, completed.summary.as_deref()), (second.goal.id, Some("done")));
    assert_eq!(Goals::complete(&shelf, root, None, None), Err(GoalFault::NoneActive));
    let again = shelf.switch(root, completed.id);
    assert_eq!(again, Err(GoalFault::Completed { id: completed.id }));
    assert_eq!(shelf.switch(root, GoalId(99)), Err(GoalFault::NoSuch(GoalId(99))));
    assert_eq!(shelf.switch(HERE.as_ref(), third.goal.id), Err(GoalFault::NoSuch(third.goal.id)));
    let all: Vec<(i64, GoalStatus)> =
        Goals::list(&shelf, root).unwrap().iter().map(|goal| (goal.id.0, goal.status)).collect();
    let paused = GoalStatus::Paused;
    assert_eq!(all, [(3, paused), (1, paused), (2, GoalStatus::Completed)]);
}

#[test]
fn a_checkpoint_needs_a_goal_and_a_name_of_its_own() {
    let (state, shelf) = shelf();
    let session = session(&state);
    let root = session.workspace().root();
    assert_eq!(shelf.checkpoint(root, "a", None).unwrap_err(), GoalFault::NoneActive);
    shelf.create(&session, goal("g", false)).unwrap();
    let (goal, _) = shelf.checkpoint(root, "a", Some("why")).unwrap();
    let taken = shelf.checkpoint(root, "a", None).unwrap_err();
    assert_eq!(taken, GoalFault::NameTaken { name: "a".to_owned() });
    // A person's own point is not moved either.
    let changes = toolgate_store::ChangeStore::open(state.path()).unwrap();
    changes.set_checkpoint(root, "mine").unwrap();
    assert!(shelf.checkpoint(root, "mine", None).is_err());
    assert_eq!(shelf.checkpoints(goal.id).unwrap().len(), 1);
    let names: BTreeSet<String> =
        changes.checkpoints(root).unwrap().into_iter().map(|point| point.name).collect();
    assert_eq!(names, ["a", "mine"].map(str::to_owned).into());
    shelf.decide(&session, "d", Some("r"), &["x".to_owned()]).unwrap();
    assert!(shelf.remove_goal(root, goal.id).unwrap());
    assert_eq!(
        (shelf.checkpoints(goal.id).unwrap(), shelf.decisions(goal.id).unwrap()),
        (vec![], vec![])
    );
    assert_eq!(changes.checkpoints(root).unwrap().len(), 2);
}

#[test]
fn reasoning_is_that_of_the_session_in_its_workspace_newest_first() {
    let (state, shelf) = shelf();
    let other = tempfile::tempdir().unwrap();
    let here = session(&state).with_id("a%_".into());
    let there = session(&other).with_id("a%_".into());
    let neighbour = session(&state).with_id("abc".into());
    for (session, text) in
        [(&here, "one cat"), (&there, "elsewhere cat"), (&neighbour, "theirs"), (&here, "two Cats")]
    {
        shelf.record(session, text).unwrap();
    }
    shelf.create(&here, goal("g", false)).unwrap();
    shelf.decide(&here, "buy a cat", Some("mice"), &[]).unwrap();
    let texts = |query: Option<&str>, limit| -> Vec<String> {
        shelf.read(&here, query, limit).unwrap().into_iter().map(|thought| thought.text).collect()
    };
    let decided = "Decided: buy a cat\nBecause: mice";
    assert_eq!(texts(None, 10), [decided, "two Cats", "one cat"]);
    assert_eq!(texts(None, 1), [decided]);
    assert_eq!(texts(Some("CAT two"), 10), ["two Cats"]);
    assert_eq!(texts(Some("mice"), 10), [decided]);
    assert_eq!(texts(Some("theirs"), 10), [""; 0]);
}

#[test]
fn order_is_that_of_writing_when_the_clock_goes_back() {
    let (state, shelf) = shelf();
    let session = session(&state);
    for number in 0..3 {
        shelf.record(&session, &number.to_string()).unwrap();
        shelf.create(&session, goal(&number.to_string(), false)).unwrap();
        shelf.remember(HERE.as_ref(), &number.to_string(), Scope::User).unwrap();
        open(state.path())
            .execute_batch(&format!(
                "UPDATE reasoning SET at = {0} WHERE id = {1}; UPDATE goals SET created = {0}, changed = {0} WHERE id = {1};
                 UPDATE facts SET at = {0} WHERE id = {1}",
                100 - number,
                number + 1
            ))
            .unwrap();
    }
    let thoughts = shelf.read(&session, None, 10).unwrap();
    assert_eq!(thoughts.iter().map(|thought| &*thought.text).collect::<Vec<_>>(), ["2", "1", "0"]);
    let goals = Goals::list(&shelf, session.workspace().root()).unwrap();
    assert_eq!(goals.iter().map(|goal| &*goal.title).collect::<Vec<_>>(), ["0", "2", "1"]);
    let facts = shelf.facts(HERE.as_ref()).unwrap();
    assert_eq!(facts.iter().map(|fact| &*fact.fact).collect::<Vec<_>>(), ["0", "1", "2"]);
}

#[test]
fn many_threads_and_shelves_lose_and_double_nothing() {
    const SHELVES: usize = 3;
    const THREADS: usize = 3;
    const EACH: usize = 40;
    let state = tempfile::tempdir().unwrap();
    let workspace = session(&state);
    let goals: Vec<GoalId> = (0..4)
        .map(|number| {
            let new = goal(&number.to_string(), false);
            Shelf::new(state.path()).create(&workspace, new).unwrap().goal.id
        })
        .collect();
    thread::scope(|scope| {
        for number in 0..SHELVES {
            let shelf = Arc::new(Shelf::new(state.path()));
            for thread in 0..THREADS {
                let (shelf, goals, workspace) = (Arc::clone(&shelf), &goals, &workspace);
                scope.spawn(move || {
                    for turn in 0..EACH {
                        let name = format!("{number}-{thread}-{turn}");
                        shelf.set(HERE.as_ref(), &name, &name).unwrap();
                        shelf.add(&list(), todo(&name)).unwrap();
                        shelf.remember(HERE.as_ref(), &turn.to_string(), Scope::User).unwrap();
                        shelf.switch(workspace.workspace().root(), goals[turn % 4]).unwrap();
                        let all = Goals::list(&*shelf, workspace.workspace().root()).unwrap();
                        let active = |goal: &&toolgate_core::keeping::Goal| {
                            goal.status == GoalStatus::Active
                        };
                        assert_eq!(all.iter().filter(active).count(), 1);
                    }
                });
            }
        }
    });
    let shelf = Shelf::new(state.path());
    let expected: BTreeSet<String> = (0..SHELVES)
        .flat_map(|number| (0..THREADS).map(move |thread| (number, thread)))
        .flat_map(|(number, thread)| (0..EACH).map(move |turn| format!("{number}-{thread}-{turn}")))
        .collect();
    let keys = shelf.keys(HERE.as_ref()).unwrap();
    assert_eq!(keys.iter().map(|key| key.key.clone()).collect::<BTreeSet<_>>(), expected);
    let todos = Todos::list(&shelf, &list()).unwrap();
    assert_eq!(todos.len(), expected.len());
    assert_eq!(todos.iter().map(|todo| todo.task.clone()).collect::<BTreeSet<_>>(), expected);
    let ids: BTreeSet<i64> = todos.iter().map(|todo| todo.id.0).collect();
    assert_eq!(ids, (1..=i64::try_from(expected.len()).unwrap()).collect());
    assert_eq!(shelf.facts(HERE.as_ref()).unwrap().len(), EACH);
}

#[test]
fn what_is_damaged_is_an_error_and_never_nothing() {
    let damages = [
        "UPDATE todos SET status = 'pending' || number; ",
        "UPDATE goals SET criteria = '[1'",
        "UPDATE decisions SET alternatives = 'x'",
        "DROP TABLE memory",
        "DROP TABLE facts",
        "DROP TABLE reasoning",
    ];
    for damage in damages {
        let (state, shelf) = shelf();
        let session = session(&state);
        let root = session.workspace().root();
        shelf.set(root, "k", "v").unwrap();
        shelf.remember(root, "f", Scope::Workspace).unwrap();
        shelf.add(&TodoList::of_workspace(root), todo("t")).unwrap();
        shelf.create(&session, goal("g", false)).unwrap();
        shelf.decide(&session, "d", None, &[]).unwrap();
        let damaging = open(state.path());
        damaging.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
        damaging.execute_batch(damage).unwrap();
        drop(damaging);
        let reads = [
            shelf.keys(root).map(drop).err(),
            shelf.facts(root).map(drop).err(),
            Todos::list(&shelf, &TodoList::of_workspace(root)).map(drop).err(),
            Goals::list(&shelf, root).map(drop).err(),
            shelf.decisions(GoalId(1)).map(drop).err(),
            shelf.read(&session, None, 1).map(drop).err(),
        ];
        let errors: Vec<String> = reads.into_iter().flatten().map(|error| error.message).collect();
        assert_eq!(errors.len(), 1, "{damage}: {errors:?}");
        assert!(errors[0].contains("state.db"), "{damage}: {errors:?}");
    }
}

#[test]
fn a_file_that_is_no_database_is_an_error_and_stays_as_it_is() {
    let (state, shelf) = shelf();
    let file = state.path().join("state.db");
    fs::write(&file, "not a database, and longer than a header of one would have to be".repeat(99))
        .unwrap();
    let before = fs::read(&file).unwrap();
    let error = shelf.keys(HERE.as_ref()).unwrap_err().message;
    assert!(error.contains("damaged or no database") && error.contains("move it away"), "{error}");
    assert!(shelf.set(HERE.as_ref(), "k", "v").is_err());
    assert!(Shelf::open_existing(state.path()).is_err());
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn looking_makes_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    assert!(Shelf::open_existing(&state).unwrap().is_none());
    assert!(!state.exists());
    drop(Shelf::new(&state));
    assert!(!state.exists(), "nothing is opened before it is used");
}
