//! Rules given for a time hold for whom, where and as often as they were given.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;
use toolgate_core::approval::{ApprovalId, ApprovalRequest, Digest, JsonText, Proposal, Span};
use toolgate_core::context::Session;
use toolgate_core::grants::Grants as _;
use toolgate_core::policy::Risk;
use toolgate_core::policy::load::Loader;
use toolgate_core::policy::profile::Profile;
use toolgate_core::policy::rule::Sandbox;
use toolgate_core::tool::Preview;
use toolgate_core::workspace::Workspace;
use toolgate_store::grants::{Beginning, KeptGrants};

fn session(id: &str, folder: &Path) -> Session {
    Session::new(Workspace::open(folder).unwrap()).with_id(id.into())
}

fn request(session: &Session) -> ApprovalRequest {
    ApprovalRequest {
        id: ApprovalId::generate(),
        call: "call-1".into(),
        session: session.id().clone(),
        asker: None,
        workspace: session.workspace().root().to_str().unwrap().into(),
        tool: "write_file".into(),
        title: "Write File".into(),
        description: "Create a.txt".into(),
        risk: Risk::Medium,
        reasons: Box::default(),
        rule: None,
        guarded: false,
        undoable: false,
        dangers: Box::default(),
        places: Box::default(),
        commands: Box::default(),
        reach: None,
        preview: Preview::Nothing,
        args: JsonText::from(&json!({})),
        proposals: Box::default(),
        goes_on: true,
        asked_at: SystemTime::now(),
        expires_at: None,
        digest: Digest::of(b""),
    }
}

fn edit_all() -> Proposal {
    Proposal {
        permission: "Edit(src/**)".into(),
        permissions: Box::new(["Edit(src/**)".into()]),
        meaning: "changing src".into(),
        reach: None,
        folder: None,
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

struct Scene {
    state: tempfile::TempDir,
    work: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { state: tempfile::tempdir().unwrap(), work: tempfile::tempdir().unwrap() }
    }

    fn grants(&self) -> KeptGrants {
        KeptGrants::new(self.state.path(), Loader::default(), Beginning::Joined)
    }

    fn session(&self) -> Session {
        session("s", self.work.path())
    }

    fn give(&self, span: Span) -> Arc<str> {
        let request = request(&self.session());
        block_on(self.grants().add(&request, &edit_all(), span)).unwrap();
        request.id.to_string().into()
    }
}

#[test]
fn a_grant_holds_for_its_session_and_its_workspace_only() {
    let scene = Scene::new();
    assert!(scene.grants().of(&scene.session()).is_none());
    scene.give(Span::Session);
    let rules =
        |session: &Session| scene.grants().of(session).map_or(0, |granted| granted.rules().len());
    assert_eq!(rules(&scene.session()), 1);
    assert_eq!(rules(&session("another", scene.work.path())), 0);
    let elsewhere = tempfile::tempdir().unwrap();
    assert_eq!(rules(&session("s", elsewhere.path())), 0);
}

#[test]
fn a_grant_keeps_what_commands_run_with() {
    let hosts = ["docs.rs".to_owned(), "crates.io".to_owned()];
    for reach in [
        None,
        Some(Profile::of(Sandbox::ReadOnly)),
        Some(Profile::new(Sandbox::WorkspaceWrite, hosts)),
        Some(Profile::of(Sandbox::Full)),
    ] {
        let scene = Scene::new();
        let proposal = Proposal {
            permissions: Box::new(["Bash(make *)".into(), "Bash(npm ci)".into()]),
            reach: reach.clone().map(Box::new),
            ..edit_all()
        };
        let request = request(&scene.session());
        block_on(scene.grants().add(&request, &proposal, Span::Session)).unwrap();
        assert_eq!(scene.grants().list().unwrap()[0].reach, reach);
        let granted = scene.grants().of(&scene.session()).unwrap();
        assert_eq!(granted.rules().len(), 2);
        for rule in granted.rules() {
            assert_eq!(Profile::granted(&rule.grant), reach);
        }
    }
}

#[test]
fn uses_are_counted_however_many_ask_at_once() {
    let scene = Scene::new();
    // The call it was given for is the first.
    let id = scene.give(Span::Uses(6));
    let taken: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..12)
            .map(|_| {
                let (scene, id) = (&scene, Arc::clone(&id));
                scope.spawn(move || usize::from(block_on(scene.grants().take(&[id])).unwrap()))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(taken, 5);
    assert!(scene.grants().list().unwrap().is_empty());
}

#[test]
fn of_several_grants_all_are_used_or_none() {
    let scene = Scene::new();
    let (first, second) = (scene.give(Span::Uses(3)), scene.give(Span::Uses(2)));
    let take = |ids: &[Arc<str>]| block_on(scene.grants().take(ids)).unwrap();
    assert!(take(&[Arc::clone(&first), Arc::clone(&second)]));
    assert!(!take(&[Arc::clone(&first), second]));
    assert!(take(&[first]), "the first lost a use to a call that did not run");
}

#[test]
fn a_grant_ends_when_it_is_revoked_or_its_time_is_over() {
    let scene = Scene::new();
    let id = scene.give(Span::Minutes(5));
    scene.give(Span::Minutes(0));
    scene.give(Span::Uses(1));
    let listed = scene.grants().list().unwrap();
    assert_eq!(listed.iter().map(|kept| kept.id.as_str()).collect::<Vec<_>>(), [&*id]);
    assert!(scene.grants().revoke(&id).unwrap() && !scene.grants().revoke(&id).unwrap());
    assert!(!block_on(scene.grants().take(&[id])).unwrap());
}
