//! Keeping bodies within bounds: long text is cut in the middle, its length is kept.

use serde_json::{Map, Value};

/// How long a body may be, as JSON.
const BODY: usize = 64 * 1024;

/// How long a text in a body may be, at first; then shorter, until all of it fits.
const TEXTS: [usize; 4] = [4096, 1024, 256, 64];

/// How many places that were cut are named.
const NAMED: usize = 16;

/// The name under which a body says which of its texts were cut.
pub(crate) const SHORTENED: &str = "shortened";

/// Writes a body down, keys sorted, cut where it is too long.
pub(crate) fn render(mut whole: Value) -> String {
    whole.sort_all_objects();
    if !has_longer_text(&whole, TEXTS[0]) {
        let text = whole.to_string();
        if text.len() <= BODY {
            return text;
        }
    }
    let mut size = 0;
    for limit in TEXTS {
        let mut cut = Vec::new();
        let mut short = cut_texts(&whole, limit, &mut String::new(), &mut cut);
        if !cut.is_empty()
            && let Value::Object(members) = &mut short
        {
            cut.truncate(NAMED);
            members.insert(SHORTENED.to_owned(), Value::from(cut));
            members.sort_keys();
        }
        let text = short.to_string();
        if text.len() <= BODY {
            return text;
        }
        size = size.max(text.len());
    }
    give_up(&whole, size)
}

/// What is left of a body that has too many parts: its short members.
fn give_up(whole: &Value, size: usize) -> String {
    let mut left = Map::new();
    let members = whole.as_object().into_iter().flatten();
    for (name, member) in members.filter(|(name, _)| name.len() <= 64) {
        let short = cut_texts(member, 256, &mut String::new(), &mut Vec::new());
        let text = short.to_string();
        let kept = if text.len() <= 1024 && left.len() < 32 {
            short
        } else {
            Value::from(format!("[{} bytes left out]", text.len()))
        };
        if left.len() < 256 {
            left.insert(name.clone(), kept);
        }
    }
    left.insert(SHORTENED.to_owned(), Value::from(vec![format!("all of {size} bytes")]));
    left.sort_keys();
    Value::Object(left).to_string()
}

/// A text within a limit: both ends of it, and how long it was.
pub(crate) fn text(text: &str, limit: usize) -> Option<String> {
    if text.len() <= limit {
        return None;
    }
    let half = limit.saturating_sub(40) / 2;
    let start = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
    let end = text.get(text.ceil_char_boundary(text.len() - half)..).unwrap_or_default();
    Some(format!("{start}[… cut, {} bytes in all …]{end}", text.len()))
}

fn cut_texts(value: &Value, limit: usize, at: &mut String, cut: &mut Vec<String>) -> Value {
    let mut inside = |name: &str, value: &Value| {
        let length = at.len();
        at.push('/');
        at.push_str(text(name, 64).as_deref().unwrap_or(name));
        let short = cut_texts(value, limit, at, cut);
        at.truncate(length);
        short
    };
    match value {
        Value::String(long) => match text(long, limit) {
            Some(short) => {
                cut.push(at.clone());
                Value::String(short)
            }
            None => value.clone(),
        },
        Value::Array(items) => {
            let each = items.iter().enumerate();
            Value::Array(each.map(|(index, item)| inside(&index.to_string(), item)).collect())
        }
        Value::Object(members) => {
            let each = members.iter();
            Value::Object(each.map(|(name, member)| (name.clone(), inside(name, member))).collect())
        }
        _ => value.clone(),
    }
}

/// Whether there is a text longer than a limit; mostly there is none.
fn has_longer_text(value: &Value, limit: usize) -> bool {
    match value {
        Value::String(text) => text.len() > limit,
        Value::Array(items) => items.iter().any(|item| has_longer_text(item, limit)),
        Value::Object(members) => members.values().any(|member| has_longer_text(member, limit)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_sorted_and_large_numbers_kept() {
        let body = json!({"b": {"z": 1, "a": 9_007_199_254_740_993_u64}, "a": [1.5, null]});
        assert_eq!(render(body), r#"{"a":[1.5,null],"b":{"a":9007199254740993,"z":1}}"#);
    }

    #[test]
    fn long_texts_keep_both_ends_and_their_length() {
        let body = json!({"args": {"content": format!("BEGIN{}END", "ä".repeat(10_000))}});
        let value: Value = serde_json::from_str(&render(body)).unwrap();
        let text = value["args"]["content"].as_str().unwrap();
        assert!(text.len() <= 4096 && text.starts_with("BEGINä") && text.ends_with("äEND"));
        assert!(text.contains("[… cut, 20008 bytes in all …]"));
        assert_eq!(value["shortened"], json!(["/args/content"]));
    }

    #[test]
    fn bodies_of_many_parts_are_bounded_too() {
        let many: Vec<_> = (0..100_000).collect();
        let body = json!({"tool": "x", "args": {"list": many}, "k".repeat(100_000): 1});
        let text = render(body);
        assert!(text.len() <= BODY, "{}", text.len());
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["tool"], "x");
        assert!(value["shortened"][0].as_str().unwrap().starts_with("all of "));
        let texts: Vec<_> = (0..500).map(|_| "t".repeat(3000)).collect();
        assert!(render(json!({ "args": texts })).len() <= BODY);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_within_its_limit(long in ".{0,300}", limit in 64_usize..200) {
            if let Some(short) = text(&long, limit) {
                prop_assert!(short.len() <= limit, "{}", short.len());
                prop_assert!(long.len() > limit);
            }
        }
    }
}
