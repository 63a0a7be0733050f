//! The Starlark of `.rules` files: calls with literal values, and constants.
//!
//! The text is read with Starlark's own lexer and parser; nothing is run.
//! Loops, functions and the like could forbid anything, so they are errors.

use starlark_syntax::codemap::{CodeMap, Pos, Span};
use starlark_syntax::lexer::{Lexer, Token};
use starlark_syntax::syntax::ast::{
    ArgumentP, AssignTargetP, AstExpr, AstLiteral, AstStmt, BinOp, ExprP, StmtP,
};
use starlark_syntax::syntax::{AstModule, Dialect};

use crate::import::node::{Node, Value};
use crate::import::report::ImportError;

/// A call of a function at the top of the file.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) function: String,
    pub(crate) positional: Vec<Node>,
    pub(crate) named: Vec<(String, Node)>,
    /// Where it stands; the value is of no interest.
    pub(crate) place: Node,
}

/// Deepest nesting of brackets; a pattern needs four.
const DEEPEST: usize = 20;
/// Most sums in one statement.
const MOST_SUMS: usize = 100;
/// Most values that all constants together stand for.
const MOST_VALUES: usize = 100_000;

/// The calls of the file, in order, their constants filled in.
pub(crate) fn calls(text: &str, name: &str) -> Result<Vec<Call>, ImportError> {
    let dialect = Dialect::Extended;
    check_tokens(text, name, &dialect)?;
    let module = AstModule::parse(name, text.to_owned(), &dialect).map_err(|error| {
        let begin = error.span().map(|span| span.resolve_span().begin).unwrap_or_default();
        let message = error.without_diagnostic().to_string();
        let message = message.lines().next().unwrap_or("not Starlark").to_lowercase();
        ImportError { line: begin.line + 1, column: begin.column + 1, message }
    })?;
    let mut reader =
        Reader { module: &module, constants: Vec::new(), calls: Vec::new(), left: MOST_VALUES };
    reader.statement(module.statement())?;
    Ok(reader.calls)
}

/// Lets only the tokens of literal calls through, and only so deep that no parser runs out of stack.
fn check_tokens(text: &str, name: &str, dialect: &Dialect) -> Result<(), ImportError> {
    let codemap = CodeMap::new(name.to_owned(), text.to_owned());
    let (mut depth, mut sums) = (0_usize, 0_usize);
    for lexeme in Lexer::new(text, dialect, codemap.clone()) {
        // What cannot be split into tokens is reported by the parser.
        let Ok((start, token, _)) = lexeme else { break };
        match &token {
            Token::OpeningRound | Token::OpeningSquare => depth += 1,
            Token::ClosingRound | Token::ClosingSquare => depth = depth.saturating_sub(1),
            Token::Plus => sums += 1,
            Token::Newline => sums = 0,
            Token::Comment(_)
            | Token::Comma
            | Token::Equal
            | Token::Float(_)
            | Token::Identifier(_)
            | Token::Int(_)
            | Token::Pass
            | Token::Semicolon
            | Token::String(_)
            | Token::Tabs => {}
            other => {
                let message = format!("{other} is not understood, only calls with literal values");
                return Err(at_offset(&codemap, start, message));
            }
        }
        if depth > DEEPEST || sums > MOST_SUMS {
            return Err(at_offset(&codemap, start, "this is nested too deeply".to_owned()));
        }
    }
    Ok(())
}

fn at_offset(codemap: &CodeMap, offset: usize, message: String) -> ImportError {
    let position = Pos::new(u32::try_from(offset).unwrap_or_default());
    let begin = codemap.resolve_span(Span::new(position, position)).begin;
    ImportError { line: begin.line + 1, column: begin.column + 1, message }
}

struct Reader<'a> {
    module: &'a AstModule,
    constants: Vec<(String, Node)>,
    calls: Vec<Call>,
    /// How many more values constants may stand for.
    left: usize,
}

impl Reader<'_> {
    fn node(&self, span: Span, value: Value) -> Node {
        let begin = self.module.file_span(span).resolve_span().begin;
        Node { line: begin.line + 1, column: begin.column + 1, value }
    }

    fn error(&self, span: Span, message: impl Into<String>) -> ImportError {
        self.node(span, Value::Other).error(message)
    }

    fn statement(&mut self, statement: &AstStmt) -> Result<(), ImportError> {
        match &statement.node {
            StmtP::Statements(statements) => {
                for statement in statements {
                    self.statement(statement)?;
                }
            }
            StmtP::Pass => {}
            StmtP::Expression(expression) => self.top_level(expression)?,
            StmtP::Assign(assignment) => {
                let AssignTargetP::Identifier(name) = &assignment.lhs.node else {
                    return Err(self.error(statement.span, "only a plain name can be a constant"));
                };
                let value = self.value(&assignment.rhs)?;
                self.constants.retain(|(known, _)| *known != name.node.ident);
                self.constants.push((name.node.ident.clone(), value));
            }
            _ => {
                let message = "this is not understood, only calls with literal values";
                return Err(self.error(statement.span, message));
            }
        }
        Ok(())
    }

    fn top_level(&mut self, expression: &AstExpr) -> Result<(), ImportError> {
        match &expression.node {
            // A string that stands alone is a comment.
            ExprP::Literal(AstLiteral::String(_)) => Ok(()),
            ExprP::Call(function, arguments) => {
                let ExprP::Identifier(name) = &function.node else {
                    return Err(self.error(function.span, "only a function's name can be called"));
                };
                let mut call = Call {
                    function: name.node.ident.clone(),
                    positional: Vec::new(),
                    named: Vec::new(),
                    place: self.node(expression.span, Value::Other),
                };
                for argument in &arguments.args {
                    match &argument.node {
                        ArgumentP::Positional(value) => call.positional.push(self.value(value)?),
                        ArgumentP::Named(name, value) => {
                            call.named.push((name.node.clone(), self.value(value)?));
                        }
                        _ => return Err(self.error(argument.span, "`*` is not understood here")),
                    }
                }
                self.calls.push(call);
                Ok(())
            }
            _ => Err(self.error(expression.span, "only calls with literal values are understood")),
        }
    }

    fn value(&mut self, expression: &AstExpr) -> Result<Node, ImportError> {
        let value = match &expression.node {
            ExprP::Literal(AstLiteral::String(text)) => Value::Text(text.node.clone()),
            ExprP::Literal(_) => Value::Other,
            ExprP::List(items) => {
                let items = items.iter().map(|item| self.value(item));
                Value::List(items.collect::<Result<_, _>>()?)
            }
            ExprP::Identifier(name) => self.constant(&name.node.ident, expression.span)?,
            ExprP::Op(left, BinOp::Add, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                match (left.value, right.value) {
                    (Value::Text(left), Value::Text(right)) => Value::Text(left + &right),
                    (Value::List(mut left), Value::List(right)) => {
                        left.extend(right);
                        Value::List(left)
                    }
                    _ => return Err(self.error(expression.span, "these cannot be added")),
                }
            }
            _ => return Err(self.error(expression.span, "only a literal value is understood here")),
        };
        Ok(self.node(expression.span, value))
    }

    fn constant(&mut self, name: &str, span: Span) -> Result<Value, ImportError> {
        match name {
            "True" => return Ok(Value::Bool(true)),
            "False" => return Ok(Value::Bool(false)),
            "None" => return Ok(Value::Other),
            _ => {}
        }
        let found = self.constants.iter().find(|(known, _)| known == name);
        let Some((_, node)) = found else {
            return Err(self.error(span, format!("`{name}` is not a constant of this file")));
        };
        let weight = weight(node);
        let Some(left) = self.left.checked_sub(weight) else {
            return Err(self.error(span, "the constants stand for too much"));
        };
        let value = node.value.clone();
        self.left = left;
        Ok(value)
    }
}

/// How many values and characters it takes to copy the node.
fn weight(node: &Node) -> usize {
    match &node.value {
        Value::List(items) => 1 + items.iter().map(weight).sum::<usize>(),
        Value::Text(text) => 1 + text.len() / 16,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_sums_are_filled_in() {
        let text = "\"about\"\nGIT = \"git\"\nSUB = [\"log\"] + [\"diff\"]\nrule([GIT, SUB], name = \"a\" + GIT)\n";
        let calls = calls(text, "x.rules").unwrap();
        assert_eq!(calls.len(), 1);
        assert_eq!(calls[0].place.line, 4);
        let pattern = calls[0].positional[0].list("pattern").unwrap();
        assert_eq!(pattern[0].text("git"), Ok("git"));
        assert_eq!(pattern[1].texts("sub").unwrap().len(), 2);
        assert_eq!(calls[0].named[0].1.text("name"), Ok("agit"));
    }

    #[test]
    fn what_runs_is_refused_with_its_line() {
        for (text, line) in [
            ("x = 1\nfor a in []:\n    rule(a)\n", 2),
            ("def f():\n    pass\n", 1),
            ("load(\"a\", \"b\")\n", 1),
            ("rule(a = [x for x in []])\n", 1),
            ("\n\nrule(f\"a\")\n", 3),
            ("if True:\n    rule()\n", 1),
            ("rule(unknown)\n", 1),
            ("a.b()\n", 1),
            ("rule(\n  {},\n)\n", 2),
            ("rule(\"a\"", 1),
        ] {
            let error = calls(text, "x.rules").unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
        }
    }

    #[test]
    fn neither_depth_nor_growth_runs_away() {
        for text in [
            "[".repeat(50_000),
            format!("a = {}1", "+".repeat(50_000)),
            format!("a = 1{}", "+1".repeat(50_000)),
            "f(".repeat(50_000),
            "not ".repeat(50_000),
        ] {
            assert!(calls(&text, "x.rules").is_err());
        }
        let growing = (0..60).fold("a0 = [\"x\"]\n".to_owned(), |text, n| {
            format!("{text}a{} = [a{n}, a{n}]\n", n + 1)
        });
        assert!(calls(&growing, "x.rules").is_err());
        let doubling =
            (0..60).fold("a = \"xxxxxxxx\"\n".to_owned(), |text, _| text + "a = a + a\n");
        assert!(calls(&doubling, "x.rules").is_err());
    }
}
