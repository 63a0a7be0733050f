use std::hint::black_box;
use std::time::Instant;
use toolgate_policy::shell::*;
fn t(name: &str, mut f: impl FnMut()) {
    for _ in 0..2000 {
        f()
    }
    let mut best = vec![];
    for _ in 0..15 {
        let s = Instant::now();
        for _ in 0..2000 {
            f()
        }
        best.push(s.elapsed().as_nanos() / 2000);
    }
    best.sort();
    println!("{name}: {}", best[2]);
}
fn main() {
    use toolgate_policy::{Decision, *};
    let w = world::Lexical::new("/project");
    let text = std::fs::read_to_string("/tmp/r10.toml").unwrap();
    let places = pattern::Places { workspace: vec!["/project".into()], home: None };
    let loader = load::Loader { places, ..load::Loader::default() };
    let file = loader.parse(&text, "policy.toml", rule::Tier::User);
    let e = Engine::new(file.rules, Mode::Default);
    for line in [
        "npm run service-0:test",
        "npm run service-0:test && cargo test -p service-0",
        "make install",
    ] {
        println!("{line}");
        t("read", || {
            black_box(read(black_box(line)));
        });
        t("bytes", || {
            black_box(bytes::check(black_box(line)).ok());
        });
        t("gate", || {
            black_box(gate::parse(black_box(line)).ok());
        });
        let l = gate::parse(line).ok().unwrap();
        t("confirm", || {
            black_box(syntax::confirm(black_box(line), &l).ok());
        });
        t("look", || {
            for c in l.commands() {
                black_box(look(c));
            }
        });
        t("runs", || {
            for c in l.commands() {
                black_box(wrapper::runs(c));
            }
        });
        t("risks", || {
            black_box(risks(l.commands()));
        });
        t("render", || {
            black_box(render(&l, "~", |_| vec![]));
        });
        let f = Facts::new("shell", Effect::Change, Risk::High)
            .with_args(serde_json::json!({"command":line}));
        t("decide", || {
            black_box(e.decide(&f, &w));
        });
    }
    let _ = Decision::Allow;
}
