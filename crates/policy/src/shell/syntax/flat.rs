//! The simple commands of a parsed text, one after the other.

use brush_parser::ast::{self, CommandPrefixOrSuffixItem as Item, CompoundCommand};

use crate::shell::command::{RedirectSource, Source};
use crate::shell::syntax::program::Parsed;

/// The commands of a text.
#[derive(Debug)]
pub(super) struct Flat {
    pub(super) commands: Vec<FlatCommand>,
    /// Whether there are only lists, pipelines and groups.
    pub(super) plain: bool,
}

/// One command, as text.
#[derive(Debug, Default)]
pub(super) struct FlatCommand {
    pub(super) source: Source,
    pub(super) reads_pipe: bool,
    pub(super) feeds_pipe: bool,
}

/// Lists the commands of a text in the order in which they are written.
pub(super) fn flatten(parsed: &Parsed) -> Flat {
    let mut flattener = Flattener { parsed, flat: Flat { commands: Vec::new(), plain: true } };
    for list in &parsed.program.complete_commands {
        flattener.list(list);
    }
    flattener.flat
}

struct Flattener<'a> {
    parsed: &'a Parsed,
    flat: Flat,
}

impl Flattener<'_> {
    fn list(&mut self, list: &ast::CompoundList) {
        for ast::CompoundListItem(and_or, _) in &list.0 {
            self.pipeline(&and_or.first);
            for next in &and_or.additional {
                let (ast::AndOr::And(pipeline) | ast::AndOr::Or(pipeline)) = next;
                self.pipeline(pipeline);
            }
        }
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline) {
        self.flat.plain &= pipeline.timed.is_none();
        let last = pipeline.seq.len().saturating_sub(1);
        for (stage, command) in pipeline.seq.iter().enumerate() {
            let first = self.flat.commands.len();
            self.command(command);
            for inner in self.flat.commands.iter_mut().skip(first) {
                inner.reads_pipe |= stage > 0;
                inner.feeds_pipe |= stage < last;
            }
        }
    }

    fn command(&mut self, command: &ast::Command) {
        match command {
            ast::Command::Simple(simple) => self.simple(simple),
            ast::Command::Compound(compound, redirects) => {
                self.compound(compound);
                self.redirects(redirects.as_ref());
            }
            ast::Command::Function(function) => {
                self.flat.plain = false;
                self.compound(&function.body.0);
                self.redirects(function.body.1.as_ref());
            }
            ast::Command::ExtendedTest(_, redirects) => {
                self.opaque("[[");
                self.redirects(redirects.as_ref());
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        let group =
            matches!(compound, CompoundCommand::BraceGroup(_) | CompoundCommand::Subshell(_));
        self.flat.plain &= group;
        match compound {
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(group) => self.list(&group.list),
            CompoundCommand::Arithmetic(_) => self.opaque("(("),
            CompoundCommand::ArithmeticForClause(clause) => self.list(&clause.body.list),
            CompoundCommand::ForClause(clause) => self.list(&clause.body.list),
            CompoundCommand::CaseClause(clause) => {
                clause.cases.iter().filter_map(|case| case.cmd.as_ref()).for_each(|l| self.list(l));
            }
            CompoundCommand::IfClause(clause) => self.conditional(clause),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0);
                self.list(&clause.1.list);
            }
            CompoundCommand::Coprocess(coprocess) => self.command(&coprocess.body),
        }
    }

    fn conditional(&mut self, clause: &ast::IfClauseCommand) {
        self.list(&clause.condition);
        self.list(&clause.then);
        for other in clause.elses.iter().flatten() {
            other.condition.iter().for_each(|condition| self.list(condition));
            self.list(&other.body);
        }
    }

    /// A command that is no simple one, kept so that it is not forgotten.
    fn opaque(&mut self, name: &str) {
        self.flat.plain = false;
        // The `$` marks the second word as one that is not known.
        let words = vec![name.to_owned(), "$…".to_owned()];
        let source = Source { words, ..Source::default() };
        self.flat.commands.push(FlatCommand { source, ..FlatCommand::default() });
    }

    fn simple(&mut self, simple: &ast::SimpleCommand) {
        let mut source = Source::default();
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item, &mut source, Position::Front);
        }
        source.words.extend(simple.word_or_name.iter().map(|word| self.text(word)));
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            self.item(item, &mut source, Position::Behind);
        }
        self.flat.commands.push(FlatCommand { source, ..FlatCommand::default() });
    }

    fn item(&mut self, item: &Item, source: &mut Source, position: Position) {
        match (item, position) {
            (Item::IoRedirect(redirect), _) => {
                source.redirects.extend(self.redirect(redirect));
            }
            (Item::AssignmentWord(_, word), Position::Front) => {
                source.assignments.push(self.text(word));
            }
            (Item::Word(word) | Item::AssignmentWord(_, word), _) => {
                source.words.push(self.text(word));
            }
            (Item::ProcessSubstitution(_, subshell), _) => {
                self.flat.plain = false;
                source.words.push("<(…)".to_owned());
                self.list(&subshell.list);
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&ast::RedirectList>) {
        let mut source = Source::default();
        for redirect in redirects.iter().flat_map(|list| &list.0) {
            source.redirects.extend(self.redirect(redirect));
        }
        if !source.redirects.is_empty() {
            self.flat.commands.push(FlatCommand { source, ..FlatCommand::default() });
        }
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect) -> Option<RedirectSource> {
        let numbered = |number: &Option<ast::IoFd>, operator: &str| {
            format!("{}{operator}", number.map(|number| number.to_string()).unwrap_or_default())
        };
        let (operator, target, body) = match redirect {
            ast::IoRedirect::File(number, kind, target) => {
                (numbered(number, file_operator(kind)), self.target(target)?, None)
            }
            ast::IoRedirect::OutputAndError(word, append) => {
                (if *append { "&>>" } else { "&>" }.to_owned(), self.text(word), None)
            }
            ast::IoRedirect::HereString(number, word) => {
                (numbered(number, "<<<"), self.text(word), None)
            }
            ast::IoRedirect::HereDocument(number, here) => {
                let operator = if here.remove_tabs { "<<-" } else { "<<" };
                let delimiter = here.here_end.value.trim().to_owned();
                (numbered(number, operator), delimiter, Some(here.doc.value.clone()))
            }
        };
        Some(RedirectSource { operator, target, body })
    }

    /// The target as text. A number alone is what the parser makes of `|&`, and not in the text.
    fn target(&mut self, target: &ast::IoFileRedirectTarget) -> Option<String> {
        match target {
            ast::IoFileRedirectTarget::Filename(word)
            | ast::IoFileRedirectTarget::Duplicate(word) => Some(self.text(word)),
            ast::IoFileRedirectTarget::Fd(_) => None,
            ast::IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                self.flat.plain = false;
                self.list(&subshell.list);
                Some("<(…)".to_owned())
            }
        }
    }

    fn text(&self, word: &ast::Word) -> String {
        self.parsed.original(&word.value).to_owned()
    }
}

/// Where an item stands: in front of the command's name, or behind it.
#[derive(Clone, Copy)]
enum Position {
    Front,
    Behind,
}

fn file_operator(kind: &ast::IoFileRedirectKind) -> &'static str {
    match kind {
        ast::IoFileRedirectKind::Read => "<",
        ast::IoFileRedirectKind::Write => ">",
        ast::IoFileRedirectKind::Append => ">>",
        ast::IoFileRedirectKind::ReadAndWrite => "<>",
        ast::IoFileRedirectKind::Clobber => ">|",
        ast::IoFileRedirectKind::DuplicateInput => "<&",
        ast::IoFileRedirectKind::DuplicateOutput => ">&",
    }
}
