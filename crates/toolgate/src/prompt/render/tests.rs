//! Requests on screens of all kinds.

use super::super::{layout, sample};
use super::*;

fn view(columns: usize, detail: Detail) -> View {
    let size = Size { columns, rows: 30 };
    View { size, detail, seen: Seen::Here, now: sample::asked_at() }
}

fn plain(of: &ApprovalRequest, view: &View) -> String {
    anstream::adapter::strip_str(&request(of, view).0).to_string()
}

#[test]
fn requests_fit_wide_and_narrow_screens() {
    for (name, of) in sample::all() {
        for columns in [80, 40] {
            insta::assert_snapshot!(
                format!("{name}_{columns}"),
                plain(&of, &view(columns, Detail::Brief))
            );
        }
    }
}

#[test]
fn colours_tell_risk_and_difference() {
    for (name, of) in [("edit", sample::edit()), ("shell", sample::shell())] {
        let shown = request(&of, &view(80, Detail::Brief)).0.replace('\u{1b}', "␛");
        insta::assert_snapshot!(format!("{name}_coloured"), shown);
    }
}

#[test]
fn whose_request_it_is_is_said_elsewhere() {
    let of = ApprovalRequest { session: "s-1".into(), ..sample::edit() };
    let now = sample::asked_at() + Duration::from_secs(200);
    let seen = View { seen: Seen::Elsewhere, now, ..view(80, Detail::Brief) };
    insta::assert_snapshot!("elsewhere", plain(&of, &seen));
}

#[test]
fn no_line_is_wider_than_the_screen_and_none_obeys_anybody() {
    for (name, of) in sample::all() {
        for columns in [24, 33, 40, 80, 200] {
            for detail in [Detail::Brief, Detail::Whole] {
                let shown = plain(&of, &view(columns, detail));
                for line in shown.lines() {
                    assert!(layout::width(line) <= columns, "{name} at {columns}: {line}");
                }
                assert!(
                    shown.chars().all(|letter| letter == '\n' || !letter.is_control()),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn nothing_foreign_stands_where_the_question_stands() {
    for (name, of) in sample::all() {
        let shown = plain(&of, &view(80, Detail::Whole));
        let own = shown.lines().skip(1).filter(|line| !line.starts_with("  "));
        assert_eq!(own.count(), 1, "{name}: only the title begins a line");
    }
}

#[test]
fn the_whole_has_every_line_and_every_letter() {
    let (_, of) = sample::all().into_iter().find(|(name, _)| *name == "long_preview").unwrap();
    let (brief, cut) = request(&of, &view(80, Detail::Brief));
    assert!(cut && brief.lines().count() <= 30, "{brief}");
    let (whole, cut) = request(&of, &view(80, Detail::Whole));
    assert!(!cut && (1..=200).all(|number| whole.contains(&format!("+line {number}"))));
    let (_, of) = sample::all().into_iter().find(|(name, _)| *name == "marks").unwrap();
    let whole = plain(&of, &view(80, Detail::Whole));
    assert!(whole.matches('x').count() >= 12_345);
}
