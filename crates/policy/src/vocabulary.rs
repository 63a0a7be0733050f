//! The tools rules may speak of, by every name they go by.

use hashbrown::HashMap;

/// Native names, and the names of other dialects.
const BUILT_IN: &[(&str, &[&str])] = &[
    ("read_file", &["Read", "readFile"]),
    ("read_many_files", &["readManyFiles"]),
    ("write_file", &["Write", "writeFile"]),
    ("edit_file", &["Edit", "MultiEdit", "editFile", "edit", "replace", "smart_edit"]),
    ("delete_file", &["deleteFile"]),
    ("notebook_edit", &["NotebookEdit", "notebookEdit"]),
    ("glob", &["Glob"]),
    ("grep", &["Grep", "search_file_content", "grep_search", "ripgrep"]),
    ("ls", &["LS", "listFiles", "list_directory"]),
    ("shell", &["Bash", "runCommand", "run_shell_command"]),
    ("shell_output", &["TaskOutput", "BashOutput", "shellOutput"]),
    ("kill_shell", &["KillShell", "KillBash", "killShell"]),
    ("web_fetch", &["WebFetch", "webFetch"]),
    ("web_search", &["WebSearch", "webSearch", "google_web_search"]),
    ("memory", &[]),
    ("remember", &["save_memory"]),
    ("write_memory_dump", &[]),
    ("read_reasoning", &[]),
    ("create_goal", &[]),
    ("switch_goal", &[]),
    ("complete_goal", &[]),
    ("create_checkpoint", &[]),
    ("record_decision", &[]),
    ("write_todos", &[]),
    ("todo_write", &["TodoWrite", "todoWrite"]),
    ("ask_user", &["AskUserQuestion", "askUser"]),
    ("enter_plan_mode", &["EnterPlanMode"]),
    ("exit_plan_mode", &["ExitPlanMode"]),
    ("task", &["Task", "Agent"]),
    ("create_subtasks", &["createSubtasks"]),
    ("list_subtask", &["listSubtask"]),
    ("activate_skill", &["Skill", "activateSkill"]),
    ("lsp", &["LSP"]),
    ("trigger_hot_swap", &[]),
];

/// The tools rules may speak of.
#[derive(Debug, Clone)]
pub struct Vocabulary {
    native: HashMap<String, String>,
}

impl Default for Vocabulary {
    /// The built-in tools.
    fn default() -> Self {
        let mut vocabulary = Self { native: HashMap::new() };
        for (native, others) in BUILT_IN {
            vocabulary.add(native, others.iter().copied());
        }
        vocabulary
    }
}

impl Vocabulary {
    /// Adds a tool with the other names it goes by.
    pub fn add<'n>(&mut self, native: &'n str, others: impl IntoIterator<Item = &'n str>) {
        for name in std::iter::once(native).chain(others) {
            self.native.insert(name.to_owned(), native.to_owned());
        }
    }

    /// The native name of a tool.
    pub fn native(&self, name: &str) -> Option<&str> {
        self.native.get(name).map(String::as_str)
    }

    /// Every name.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.native.keys().map(String::as_str)
    }

    /// The name that is most like one nobody knows.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.names())
    }
}

/// The name that is most like another, if any is like it at all.
pub fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let far = |own: &str| strsim::damerau_levenshtein(&own.to_lowercase(), &name.to_lowercase());
    let (distance, length, own) = known.map(|own| (far(own), own.len(), own)).min()?;
    (distance <= (length.max(name.len()) / 3).max(1)).then_some(own)
}
