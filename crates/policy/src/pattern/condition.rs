//! Conditions on single parameters.

use std::fmt;

use serde_json::Value;

use super::regular::Regular;
use crate::decision::Decision;

/// Something a parameter must be.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The parameter; dots lead into objects.
    pub param: String,
    /// What it must be.
    pub operator: Operator,
}

/// What a parameter must be.
#[derive(Debug, Clone, PartialEq)]
pub enum Operator {
    /// This very value.
    Equals(Value),
    /// Text that has this in it, or a list that has this value.
    Contains(String),
    /// Text that an expression is found in.
    Matches(Regular),
    /// Text that begins so.
    StartsWith(String),
}

impl Condition {
    /// Whether the arguments are so.
    pub fn holds(&self, args: &Value, decision: Decision) -> bool {
        lookup(args, &self.param).is_some_and(|value| self.accepts(value, decision))
    }

    /// Whether a value is so.
    pub fn accepts(&self, value: &Value, decision: Decision) -> bool {
        match (&self.operator, value) {
            (Operator::Equals(wanted), value) => wanted == value,
            (Operator::Contains(part), Value::String(text)) => text.contains(part),
            (Operator::Contains(part), Value::Array(items)) => {
                items.iter().any(|item| item.as_str() == Some(part))
            }
            (Operator::Matches(regular), Value::String(text)) => regular.matches(text, decision),
            (Operator::StartsWith(start), Value::String(text)) => text.starts_with(start),
            _ => false,
        }
    }
}

/// The value of a parameter.
pub fn lookup<'v>(args: &'v Value, param: &str) -> Option<&'v Value> {
    if let Some(value) = args.get(param) {
        return Some(value);
    }
    param.split('.').try_fold(args, |value, key| value.get(key))
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let param = &self.param;
        match &self.operator {
            Operator::Equals(value) => write!(formatter, "`{param}` equals `{value}`"),
            Operator::Contains(part) => write!(formatter, "`{param}` contains `{part}`"),
            Operator::Matches(regular) => write!(formatter, "`{param}` matches `{regular}`"),
            Operator::StartsWith(start) => write!(formatter, "`{param}` starts with `{start}`"),
        }
    }
}
