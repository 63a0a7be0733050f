//! What the seed promises about fetching and searching, whatever the page.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_tools::web::search::{Key, ProviderName, SearchSettings};

use super::server::{Server, answer, html, send};
use super::site::Site;
use crate::harness::cases;

/// Words without letters that HTML or Markdown means something by.
fn any_words() -> impl Strategy<Value = String> {
    vec("[a-zA-Z0-9äöüß漢字é]{1,12}", 1..20).prop_map(|words| words.join(" "))
}

fn any_path() -> impl Strategy<Value = String> {
    "(/[a-z0-9._~-]{1,8}){1,4}(\\?[a-z]{1,5}=[a-z0-9%]{0,4})?"
}

proptest! {
    #![proptest_config(cases(48))]

    // Feature: stage-03-tools-policy, Property 29: Web Fetch Content Retrieval
    #[test]
    fn property_29_a_page_comes_back_as_text(path in any_path(), paragraphs in vec(any_words(), 1..6), plain in any::<bool>()) {
        let page = if plain {
            answer("200 OK", "text/plain; charset=utf-8", &paragraphs.join("\n"))
        } else {
            html(&format!("<body><p>{}</p></body>", paragraphs.join("</p><p>")))
        };
        let server = Server::start(move |_, stream| send(stream, &page));
        let text = Site::new(&server).text(&path);
        let separator = if plain { "\n" } else { "\n\n" };
        prop_assert_eq!(text, paragraphs.join(separator));
        prop_assert_eq!(server.paths().len(), 1);
    }

    // Feature: stage-03-tools-policy, Property 30: Web Fetch CSS Selector
    #[test]
    fn property_30_only_what_matches_comes_back(parts in vec((any_words(), any::<bool>()), 1..10), by_class in any::<bool>()) {
        let element = |(words, wanted): &(String, bool)| match (by_class, wanted) {
            (true, true) => format!("<p class='x wanted'>{words}</p>"),
            (true, false) => format!("<p class='unwanted'>{words}</p>"),
            (false, true) => format!("<section><p>{words}</p></section>"),
            (false, false) => format!("<div><p>{words}</p></div>"),
        };
        let page = html(&parts.iter().map(element).collect::<String>());
        let server = Server::start(move |_, stream| send(stream, &page));
        let selector = if by_class { ".wanted" } else { "section > p" };
        let result = Site::new(&server).fetch("/", json!({ "selector": selector }));
        let wanted: Vec<&str> = parts.iter().filter(|part| part.1).map(|part| part.0.as_str()).collect();
        if wanted.is_empty() {
            prop_assert!(result.error.unwrap().message.contains("matches the selector"));
        } else {
            prop_assert_eq!(result.llm_content.as_text(), wanted.join("\n\n"));
        }
    }

    // Feature: stage-03-tools-policy, Property 31: Web Fetch Truncation
    #[test]
    fn property_31_long_content_ends_at_max_length(lines in vec("[a-zäöü漢 ]{0,80}", 1..80), most in 1usize..2_000) {
        let body = lines.join("\n");
        let page = answer("200 OK", "text/plain; charset=utf-8", &body);
        let server = Server::start(move |_, stream| send(stream, &page));
        let site = Site::new(&server);
        let result = site.fetch("/", json!({ "maxLength": most }));
        let text = result.llm_content.as_text();
        let chars = body.chars().count();
        if chars <= most {
            prop_assert_eq!(text, body);
            prop_assert!(result.truncated.is_none());
        } else {
            let (kept, note) = text.split_once("[Output truncated: ").expect("it says so");
            let kept = kept.trim_end_matches('\n');
            prop_assert!(body.starts_with(kept) && kept.chars().count() <= most);
            let cut = result.truncated.unwrap();
            let omitted = format!("{} character", cut.omitted_chars);
            prop_assert!(note.contains(&omitted));
            prop_assert!(cut.omitted_chars >= (chars - most) as u64);
            let whole = std::fs::read_to_string(cut.whole.unwrap()).unwrap();
            prop_assert_eq!(whole, body);
        }
    }

    // Feature: stage-03-tools-policy, Property 32: Web Search Result Count
    #[test]
    fn property_32_a_search_gives_no_more_than_asked_for(found in 0usize..60, most in prop::option::of(1usize..=20), blocked in any::<bool>()) {
        let results: Vec<Value> = (0..found)
            .map(|index| {
                let host = if index % 3 == 0 { "a.evil.test" } else { "good.test" };
                json!({ "url": format!("https://{host}/{index}"), "title": format!("Page {index}"), "content": "x" })
            })
            .collect();
        let page = answer("200 OK", "application/json", &json!({ "results": results }).to_string());
        let server = Server::start(move |_, stream| send(stream, &page));
        let base = format!("http://{}/", server.address);
        let site = Site::with(&server, |settings| {
            settings.search = Some(SearchSettings {
                provider: ProviderName::Searxng,
                base_url: Some(base.parse().unwrap()),
                key: Key::Missing,
            });
        });
        let mut args = json!({ "query": "anything" });
        if let Some(most) = most {
            args["numResults"] = most.into();
        }
        if blocked {
            args["blockedDomains"] = json!(["evil.test"]);
        }
        let result = site.lab().result("web_search", args);
        prop_assert_eq!(&result.error, &None);
        let structured = result.structured.unwrap();
        let kept = structured["results"].as_array().unwrap();
        let there = if blocked { (0..found).filter(|index| index % 3 != 0).count() } else { found };
        prop_assert_eq!(kept.len(), there.min(most.unwrap_or(5)));
        for hit in kept {
            prop_assert!(!blocked || !hit["url"].as_str().unwrap().contains("evil.test"));
        }
    }
}
