//! `${NAME}` in settings.

/// Puts environment variables in: `${NAME}`, or `${NAME:-what to use without it}`.
///
/// # Errors
///
/// The name of a variable that is not set.
pub(crate) fn expand(
    text: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut done = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        done.push_str(before);
        let Some((named, after)) = after.split_once('}') else {
            return Err(format!("`${{` in `{text}` has no `}}`"));
        };
        let (name, otherwise) = match named.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (named, None),
        };
        match (variable(name), otherwise) {
            (Some(value), _) => done.push_str(&value),
            (None, Some(otherwise)) => done.push_str(otherwise),
            (None, None) => {
                return Err(format!("the environment variable `{name}` is not set"));
            }
        }
        rest = after;
    }
    done.push_str(rest);
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in() {
        let known = |name: &str| (name == "TOKEN").then(|| "s3".to_owned());
        let put = |text: &str| expand(text, &known);
        assert_eq!(put("Bearer ${TOKEN}!").unwrap(), "Bearer s3!");
        assert_eq!(put("${NO:-x}${TOKEN:-y}").unwrap(), "xs3");
        assert_eq!(put("$5 {x}").unwrap(), "$5 {x}");
        assert_eq!(put("${NO}").unwrap_err(), "the environment variable `NO` is not set");
        assert_eq!(put("${NO").unwrap_err(), "`${` in `${NO` has no `}`");
    }
}
