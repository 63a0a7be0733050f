//! The text that comes nearest to a target that stands nowhere.

/// Longer lines are compared by their start.
const LINE_COMPARED: usize = 200;
/// How many letters may be compared before the search is given up.
const MOST_WORK: usize = 100_000_000;
/// Below this, a line is no near miss but another line.
const NEAR_ENOUGH: f64 = 0.5;
/// How many lines of a near miss are shown.
pub(super) const LINES_SHOWN: usize = 8;

/// The stretch of text nearest to a target, and where the two part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Nearest {
    /// The first line of the stretch.
    pub(crate) line: u64,
    /// The stretch, a few lines of it.
    pub(crate) text: String,
    pub(crate) difference: Difference,
}

/// Where a near miss differs from the target.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// In whitespace only.
    Whitespace,
    /// First in this line and column of the file.
    At {
        line: u64,
        column: usize,
        /// What the target says there.
        target: String,
        /// What the file says there.
        found: String,
    },
}

/// Finds the nearest stretch, by the target's longest line.
pub(crate) fn nearest(text: &str, target: &str) -> Option<Nearest> {
    let wanted: Vec<&str> = target.lines().collect();
    let (anchor, anchor_line) =
        wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len())?;
    let lines: Vec<&str> = text.lines().collect();
    let found = nearest_line(&lines, anchor_line.trim())?;
    let first = found.saturating_sub(anchor);
    let stretch: Vec<&str> = lines.iter().skip(first).take(wanted.len()).copied().collect();
    let shown: Vec<&str> = stretch.iter().take(LINES_SHOWN).copied().collect();
    Some(Nearest {
        line: first as u64 + 1,
        text: shown.join("\n"),
        difference: difference(first, &stretch, &wanted),
    })
}

fn nearest_line(lines: &[&str], wanted: &str) -> Option<usize> {
    let wanted = start_of(wanted);
    if wanted.is_empty() {
        return None;
    }
    let mut work = 0;
    let mut best: Option<(f64, usize)> = None;
    for (index, line) in lines.iter().enumerate() {
        let line = start_of(line.trim());
        if line == wanted {
            return Some(index);
        }
        if line.len() * 3 < wanted.len() || wanted.len() * 3 < line.len() {
            continue;
        }
        work += line.len() * wanted.len();
        if work > MOST_WORK {
            break;
        }
        let score = strsim::normalized_levenshtein(line, wanted);
        if score > best.map_or(NEAR_ENOUGH, |(score, _)| score) {
            best = Some((score, index));
        }
    }
    best.map(|(_, index)| index)
}

fn start_of(line: &str) -> &str {
    match line.char_indices().nth(LINE_COMPARED) {
        Some((at, _)) => line.get(..at).unwrap_or(line),
        None => line,
    }
}

fn difference(first: usize, stretch: &[&str], wanted: &[&str]) -> Difference {
    let squeezed =
        |lines: &[&str]| lines.iter().flat_map(|line| line.split_whitespace()).collect::<String>();
    if squeezed(stretch) == squeezed(wanted) {
        return Difference::Whitespace;
    }
    for (index, target) in wanted.iter().enumerate() {
        let found = stretch.get(index).copied().unwrap_or_default();
        // Indentation apart, this is the first line that is not the same.
        if found.split_whitespace().eq(target.split_whitespace()) {
            continue;
        }
        let column =
            found.chars().zip(target.chars()).take_while(|(left, right)| left == right).count();
        let rest = |line: &str| line.chars().skip(column).take(40).collect::<String>();
        return Difference::At {
            line: (first + index) as u64 + 1,
            column: column + 1,
            target: rest(target),
            found: rest(found),
        };
    }
    Difference::Whitespace
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_where_the_texts_part() {
        let text = "fn one() {}\nfn two(a: i32) {\n    a + 1\n}\n";
        let near = nearest(text, "fn two(b: i32) {\n    a + 1\n}").unwrap();
        assert_eq!(near.line, 2);
        assert_eq!(
            near.difference,
            Difference::At {
                line: 2,
                column: 8,
                target: "b: i32) {".into(),
                found: "a: i32) {".into(),
            }
        );
    }

    #[test]
    fn tells_whitespace_from_content() {
        let near = nearest("  let x = 1;\n", "let  x = 1;").unwrap();
        assert_eq!(near.difference, Difference::Whitespace);
    }

    #[test]
    fn says_nothing_about_texts_that_have_nothing_in_common() {
        assert_eq!(nearest("alpha\nbeta\n", "0123456789"), None);
        assert_eq!(nearest("", "x"), None);
        assert_eq!(nearest("a", "\n \n"), None);
    }
}
