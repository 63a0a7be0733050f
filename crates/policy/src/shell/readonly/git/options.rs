//! Options that many commands of git share.

use crate::shell::readonly::arguments::Arguments;

/// How a difference is shown, without a value. `--ext-diff` and `--textconv` run programs.
pub(crate) const DIFF_FLAGS: &str = "-a -b -D -p -R -s -u -w -W -z --binary --check \
    --compact-summary --cumulative --default-prefix --exit-code --find-copies-harder \
    --full-index --function-context --histogram --ignore-all-space --ignore-blank-lines \
    --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change --indent-heuristic \
    --irreversible-delete --ita-invisible-in-index --minimal --name-only --name-status \
    --no-color --no-color-moved --no-ext-diff --no-indent-heuristic --no-patch --no-prefix \
    --no-relative --no-rename-empty --no-renames --no-textconv --numstat --patch \
    --patch-with-raw --patch-with-stat --patience --pickaxe-all --pickaxe-regex --quiet --raw \
    --rename-empty --shortstat --summary --text";

/// How a difference is shown, with a value in the same word or none: `-U 3` is `-U` and a file `3`.
pub(crate) const DIFF_ATTACHED: &str = "-B -C -M -U --abbrev --break-rewrites --color \
    --color-moved --color-words --dirstat --find-copies --find-renames --ignore-submodules \
    --relative --stat --unified --word-diff";

/// How a difference is shown, with a value. `--output` writes, `-O` reads a file.
pub(crate) const DIFF_TEXTS: &str = "-G -I -l -S --anchored --color-moved-ws \
    --diff-algorithm --diff-filter --dst-prefix --find-object --ignore-matching-lines \
    --inter-hunk-context --line-prefix --output-indicator-context --output-indicator-new \
    --output-indicator-old --rotate-to --skip-to --src-prefix --stat-count --stat-graph-width \
    --stat-name-width --stat-width --word-diff-regex --ws-error-highlight";

/// Which commits are shown and how, without a value. `--show-signature` runs a program.
pub(crate) const LOG_FLAGS: &str = "-c -E -F -g -i -m -P -t --abbrev-commit --all \
    --all-match --author-date-order --basic-regexp --boundary --cc --cherry --cherry-mark \
    --cherry-pick --children --clear-decorations --combined-all-paths --date-order --dd --dense \
    --do-walk --exclude-first-parent-only --extended-regexp --first-parent --fixed-strings \
    --follow --full-diff --full-history --graph --ignore-missing --invert-grep --left-only \
    --left-right --log-size --mailmap --merge --merges --no-abbrev --no-abbrev-commit \
    --no-decorate --no-diff-merges --no-expand-tabs --no-graph --no-mailmap --no-max-parents \
    --no-merges --no-min-parents --no-notes --no-use-mailmap --not --oneline --parents \
    --perl-regexp --reflog --regexp-ignore-case --relative-date --remerge-diff \
    --remove-empty --reverse --right-only --root --show-linear-break --show-pulls \
    --simplify-by-decoration --simplify-merges --source --sparse --topo-order --use-mailmap \
    --walk-reflogs";

/// Which commits are shown and how, with a value in the same word or none.
pub(crate) const LOG_ATTACHED: &str = "--ancestry-path --branches --decorate \
    --expand-tabs --format --no-walk --notes --pretty --remotes --tags --max-parents \
    --min-parents";

/// Which commits are shown and how, with a value.
pub(crate) const LOG_TEXTS: &str = "-n --after --author --before --committer --date \
    --diff-merges --encoding --exclude --glob --grep \
    --grep-reflog --max-count --since --since-as-filter --skip --until";

/// Which references are listed; these may stand last, and then mean `HEAD`.
pub(crate) const REF_FILTERS: &str = "--contains --merged --no-contains --no-merged --points-at";

/// Formats that git knows without looking into its settings.
const NAMED_FORMATS: &[&str] =
    &["", "oneline", "short", "medium", "full", "fuller", "reference", "email", "mboxrd", "raw"];

/// Makes sure that no format has a signature checked, which runs a program.
///
/// # Errors
/// Says in words for a person which format does, or may.
pub(crate) fn only_formats(arguments: &Arguments) -> Result<(), String> {
    for format in arguments.values("--format --pretty") {
        if format.contains("%G") || format.contains("signature") {
            return Err("its format has signatures checked by another program".into());
        }
        if !format.contains('%') && !format.contains(':') && !NAMED_FORMATS.contains(&format) {
            return Err(format!("the format `{format}` is not known"));
        }
    }
    Ok(())
}
