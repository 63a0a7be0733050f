//! What makes a notebook one: format 4, as its readers expect it.

use serde_json::{Map, Value};

use super::cell::CellType;

/// What is wrong with a cell, if anything.
pub(super) fn cell(cell: &Value) -> Result<&Map<String, Value>, String> {
    let cell = cell.as_object().ok_or("it is no object")?;
    let name = cell.get("cell_type").and_then(Value::as_str).ok_or("it has no `cell_type`")?;
    let kind = CellType::named(name)
        .ok_or_else(|| format!("its `cell_type` is `{name}`, not code, markdown or raw"))?;
    object(cell, "metadata")?;
    text(cell, "source")?;
    if let Some(id) = cell.get("id") {
        let id = id.as_str().ok_or("its `id` is no text")?;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if id.is_empty() || id.len() > 64 || !id.bytes().all(fits) {
            return Err("its `id` is not 1 to 64 letters, digits, `-` or `_`".to_owned());
        }
    }
    match kind {
        CellType::Code => code(cell)?,
        CellType::Markdown | CellType::Raw => {
            if let Some(name) =
                ["outputs", "execution_count"].iter().find(|n| cell.contains_key(**n))
            {
                return Err(format!("it is a {kind} cell and has `{name}`, which only code has"));
            }
        }
    }
    Ok(cell)
}

fn code(cell: &Map<String, Value>) -> Result<(), String> {
    count(cell)?;
    let outputs =
        cell.get("outputs").and_then(Value::as_array).ok_or("it has no list of `outputs`")?;
    for (index, value) in outputs.iter().enumerate() {
        output(value).map_err(|why| format!("output {index} of it: {why}"))?;
    }
    Ok(())
}

fn output(output: &Value) -> Result<(), String> {
    let output = output.as_object().ok_or("it is no object")?;
    let kind = output.get("output_type").and_then(Value::as_str);
    match kind.ok_or("it has no `output_type`")? {
        "stream" => string(output, "name").and_then(|()| text(output, "text")),
        "display_data" => object(output, "data").and_then(|()| object(output, "metadata")),
        "execute_result" => object(output, "data")
            .and_then(|()| object(output, "metadata"))
            .and_then(|()| count(output)),
        "error" => string(output, "ename")
            .and_then(|()| string(output, "evalue"))
            .and_then(|()| lines(output, "traceback")),
        other => Err(format!("its `output_type` is `{other}`, which is unknown")),
    }
}

fn count(fields: &Map<String, Value>) -> Result<(), String> {
    match fields.get("execution_count") {
        Some(Value::Null) => Ok(()),
        Some(Value::Number(count)) if count.is_u64() => Ok(()),
        _ => Err("its `execution_count` is neither a number nor null".to_owned()),
    }
}

fn object(fields: &Map<String, Value>, name: &str) -> Result<(), String> {
    match fields.get(name) {
        Some(Value::Object(_)) => Ok(()),
        _ => Err(format!("it has no object `{name}`")),
    }
}

fn string(fields: &Map<String, Value>, name: &str) -> Result<(), String> {
    match fields.get(name) {
        Some(Value::String(_)) => Ok(()),
        _ => Err(format!("it has no text `{name}`")),
    }
}

fn text(fields: &Map<String, Value>, name: &str) -> Result<(), String> {
    string(fields, name)
        .or_else(|_| lines(fields, name))
        .map_err(|_| format!("it has no text `{name}`"))
}

fn lines(fields: &Map<String, Value>, name: &str) -> Result<(), String> {
    match fields.get(name) {
        Some(Value::Array(lines)) if lines.iter().all(Value::is_string) => Ok(()),
        _ => Err(format!("it has no list of lines `{name}`")),
    }
}
