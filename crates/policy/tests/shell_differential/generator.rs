//! Shell lines from a seed: well formed ones, damaged ones, and heaps of fragments.

/// A small random number generator, the same everywhere for the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % limit
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const FRAGMENTS: &[&str] = &[
    "'",
    "'",
    "\"",
    "\"",
    "\\",
    "\\\\",
    "$'",
    "\n",
    "\n",
    " ",
    " ",
    ";",
    ";",
    "&&",
    "||",
    "|",
    "|&",
    "&",
    "touch pwned",
    "touch pwned",
    "touch pwned",
    "touch",
    "pwned",
    "probe a",
    "probe b",
    "probe",
    "$(",
    ")",
    "`",
    "`",
    "#",
    "# ",
    "<<E",
    "<<'E'",
    "<<-E",
    "<<\\E",
    "<<\"E\"",
    "\nE\n",
    "E",
    "\tE\n",
    "{",
    "}",
    "{ ",
    "; }",
    "(",
    ")",
    "[",
    "]",
    "*",
    "?",
    "~",
    "~/",
    "=",
    "x=",
    "x+=",
    "x[0]=",
    "\\\n",
    ">o",
    "2>&1",
    ">&2",
    ">&-",
    "&>o",
    "<<<",
    "3<o",
    "{fd}>o",
    "$((",
    "))",
    "((",
    "${x:-",
    "}",
    "$x",
    "$",
    "!",
    "time ",
    "if ",
    "then ",
    "fi",
    "in",
    "do ",
    "done",
    "case a in a)",
    ";;",
    "esac",
    "f()",
    "function f ",
    "coproc ",
    "[[ ",
    " ]]",
    "<(",
    ">(",
    "eval ",
    "\\'",
    "\\\"",
    "\\$",
    "\\`",
    "\\x74",
    "\\n",
    "\\c",
    "\\u0041",
    "a,b",
    "..",
    "{a,b}",
    "{1..2}",
    "-",
    "--",
    "\t",
    "é",
    "%s",
    "@(",
    "!(",
    "+",
    "^",
    "a:~",
    "a=~",
    "$\"",
    "<",
    ">",
    ">>",
    "<>",
    ">|",
    "2",
    "1>",
    "<&",
    "0<&-",
];

/// A line; the kinds take turns.
pub(crate) fn line(random: &mut Random) -> String {
    match random.below(4) {
        0 => soup(random),
        1 => {
            let mut text = list(random, 0);
            damage(random, &mut text);
            text
        }
        _ => list(random, 0),
    }
}

fn soup(random: &mut Random) -> String {
    let mut text = String::new();
    if random.one_in(2) {
        text.push_str("probe ");
    }
    for _ in 0..2 + random.below(9) {
        text.push_str(random.pick(FRAGMENTS));
        if random.one_in(3) {
            text.push(' ');
        }
    }
    text
}

/// Removes, doubles, swaps or inserts characters.
fn damage(random: &mut Random, text: &mut String) {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=random.below(2) {
        if characters.is_empty() {
            break;
        }
        let at = random.below(characters.len());
        match random.below(4) {
            0 => drop(characters.remove(at)),
            1 => characters.insert(at, characters[at]),
            2 => {
                let other = random.below(characters.len());
                characters.swap(at, other);
            }
            _ => {
                let fragment: Vec<char> = random.pick(FRAGMENTS).chars().collect();
                characters.splice(at..at, fragment);
            }
        }
    }
    *text = characters.into_iter().collect();
}

fn list(random: &mut Random, depth: usize) -> String {
    let mut text = command(random, depth);
    for _ in 0..random.below(3) {
        text.push_str(random.pick(&[
            "; ",
            ";",
            " && ",
            " || ",
            " | ",
            "|&",
            " & ",
            "\n",
            " &\n",
            " # note\n",
            "\n\n",
            " &&\n",
        ]));
        text.push_str(&command(random, depth));
    }
    text
}

fn command(random: &mut Random, depth: usize) -> String {
    if depth > 3 {
        return "probe deep".to_owned();
    }
    let nested = depth + 1;
    match random.below(22) {
        0 => format!("({})", list(random, nested)),
        1 => format!("{{ {}; }}", list(random, nested)),
        2 => format!("( {} ) {}", list(random, nested), redirect(random)),
        3 => format!("{{ {}\n}} {}", list(random, nested), redirect(random)),
        4 => format!("! {}", command(random, nested)),
        5 => format!("if {}; then {}; fi", list(random, nested), list(random, nested)),
        6 => format!("case a in a) {};; esac", list(random, nested)),
        7 => format!("f{depth}() {{ {}; }}; f{depth}", list(random, nested)),
        8 => here_document(random),
        9 => format!("for i in 1; do {}; done", list(random, nested)),
        10 => format!("{} sh -c {}", random.pick(&["", "env", "command"]), word(random, nested)),
        11 => format!("eval {}", word(random, nested)),
        12..=14 => "touch pwned".to_owned(),
        _ => simple(random, nested),
    }
}

fn simple(random: &mut Random, depth: usize) -> String {
    let mut text = String::new();
    if random.one_in(6) {
        text.push_str(&format!("x={} ", word(random, depth)));
    }
    if random.one_in(8) {
        text.push_str(&redirect(random));
        text.push(' ');
    }
    text.push_str(random.pick(&["probe", "probe", "'probe'", "pro\\be", "p\"rob\"e", "$'probe'"]));
    for _ in 0..random.below(4) {
        text.push_str(random.pick(&[" ", "  ", "\t"]));
        text.push_str(&word(random, depth));
    }
    if random.one_in(4) {
        text.push(' ');
        text.push_str(&redirect(random));
    }
    if random.one_in(10) {
        text.push_str(" # touch pwned; $(x) '");
    }
    text
}

fn word(random: &mut Random, depth: usize) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(3) {
        text.push_str(&part(random, depth));
    }
    text
}

fn part(random: &mut Random, depth: usize) -> String {
    let hidden = if depth < 4 && random.one_in(3) {
        list(random, depth + 1)
    } else {
        "touch pwned".to_owned()
    };
    match random.below(40) {
        0 => format!("$({hidden})"),
        1 => format!("`{}`", hidden.replace(['`', '\\'], "")),
        2 => format!("\"$({hidden})\""),
        3 => format!("${{x:-$({hidden})}}"),
        4 => format!("$(( 1 + $({hidden}) ))"),
        5 => format!("<({hidden})"),
        6 => format!("\"${{x:-'$({hidden})'}}\""),
        7 => "${x:-<(touch pwned)}".to_owned(),
        8..=10 => format!("'{}'", hidden.replace('\'', "")),
        11 => format!("\"{}\"", hidden.replace(['"', '$', '`', '\\'], "")),
        12 => "'a'\\''b'".to_owned(),
        13 => "\"a\\\"b\\\\c\\$d\\`e\\n\\'\"".to_owned(),
        14 => "$'a\\n\\x41\\'\\101\\t\\\\'".to_owned(),
        15 => "$'; touch pwned; \\''".to_owned(),
        16 => "\\;\\&\\|\\(".to_owned(),
        17 => "\\\n".to_owned(),
        18 => "#x".to_owned(),
        19 => random.pick(&["*", "a*", "?", "[a]", "[", "]", "[!a]"]).to_owned(),
        20 => random.pick(&["~", "~/x", "a~", "~+", "x=~", "~x"]).to_owned(),
        21 => {
            random.pick(&["{}", "{a}", "{a,b}", "{1..3}", "{touch,pwned}", "a{b", "c}"]).to_owned()
        }
        22 => "a=b".to_owned(),
        23 => random.pick(&["''", "\"\"", "$''"]).to_owned(),
        24 => "\\".to_owned() + random.pick(&["a", " ", "'", "\"", "$", "`", "\\", "#", "~", "*"]),
        25 => random.pick(&["$x", "${x}", "$", "$1", "\"$x\""]).to_owned(),
        26 => random.pick(&["!", "-", "--", "%", "@", "+", ":", ",", "^", "é"]).to_owned(),
        27 => "'line\nbreak; touch pwned'".to_owned(),
        28 => "\"line\ntouch pwned\n\"".to_owned(),
        29 => random.pick(&["if", "then", "{", "}", "in", "time", "2"]).to_owned(),
        _ => random.pick(&["a", "b1", "x.y", "-l", "n-m", "A_B"]).to_owned(),
    }
}

fn redirect(random: &mut Random) -> String {
    let target = random.pick(&["o", "'o p'", "\"o\"", "o\\ p", "$'o'", "o#", "p", "-"]);
    match random.below(10) {
        0 => format!("<<< {target}"),
        1 => random.pick(&["2>&1", "1>&2", ">&2", "3>&-", "<&-", "0<&0"]).to_owned(),
        2 => format!("&> {target}"),
        3 => format!(">& {target}"),
        4 => format!("3<>{target}"),
        5 => format!("2>> {target}"),
        6 => format!(">|{target}"),
        7 => "> >(touch pwned)".to_owned(),
        8 => "{v}>o".to_owned(),
        _ => format!(">{target}"),
    }
}

fn here_document(random: &mut Random) -> String {
    let delimiter = random.pick(&["E", "'E'", "\"E\"", "\\E", "E'E'", "$'E'"]);
    let operator = random.pick(&["<<", "<<-", "<< ", "0<<"]);
    let reader = random.pick(&["cat", "probe a", "sh", "cat -"]);
    let behind = random.pick(&[
        "",
        " | cat",
        " && touch pwned",
        "; probe b",
        " # x",
        " 'a\nb'",
        " >o",
        " <<F",
    ]);
    let body = random.pick(&[
        "plain\n",
        "",
        "touch pwned\n",
        "$(touch pwned)\n",
        "`touch pwned`\n",
        "$\\\n(touch pwned)\n",
        "\tE\n",
        " E\n",
        "E \n",
        "a\\\nE\n",
        "'\n",
        "\"\n",
        "\\$(touch pwned)\n",
        "${x:-$(touch pwned)}\n",
        "EE\n",
        "F\n",
    ]);
    let end = random.pick(&["E", "E", "E", "\tE", "EE", "F\nE", "E\nF"]);
    format!("{reader} {operator}{delimiter}{behind}\n{body}{end}\n")
}
