//! From bytes to text, by what the page says about itself or by what it looks like.

use encoding_rs::{Encoding, UTF_8};

use crate::text;

/// How far into a page its own word about its encoding is looked for.
const SNIFFED: usize = 4 * 1024;

/// Decodes a page. Whatever is said and whatever comes, there is a text.
pub(super) fn decode(bytes: &[u8], content_type: &str) -> String {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        let rest = bytes.get(length..).unwrap_or_default();
        return encoding.decode_without_bom_handling(rest).0.into_owned();
    }
    let declared = by_header(content_type).or_else(|| by_page(bytes));
    let Some(encoding) = declared else { return guess(bytes) };
    let (decoded, has_faults) = encoding.decode_without_bom_handling(bytes);
    // Who says one thing and writes another is believed to have written what reads well.
    match has_faults {
        false => decoded.into_owned(),
        true if encoding == UTF_8 => guess(bytes),
        true => std::str::from_utf8(bytes).map_or_else(|_| decoded.into_owned(), str::to_owned),
    }
}

fn guess(bytes: &[u8]) -> String {
    text::decode(bytes.to_vec()).text
}

fn by_header(content_type: &str) -> Option<&'static Encoding> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| Encoding::for_label(value.as_bytes()))?
    })
}

/// What `<meta charset>` or an XML declaration says.
fn by_page(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..SNIFFED).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let is_page = start.trim_start().starts_with('<');
    let found = start.split("charset").skip(1).chain(start.split("encoding").skip(1));
    let label = found.filter_map(|after| {
        let value = after.trim_start().strip_prefix('=')?;
        let value = value.trim_start().trim_start_matches(['"', '\'']);
        let end =
            value.find(|letter: char| !(letter.is_ascii_alphanumeric() || "-_:.".contains(letter)));
        value.get(..end.unwrap_or(value.len()))
    });
    let encoding =
        label.filter(|_| is_page).find_map(|label| Encoding::for_label(label.as_bytes()))?;
    // What can be read so far is not written in two bytes a letter, whatever it says.
    let is_wide = encoding == encoding_rs::UTF_16LE || encoding == encoding_rs::UTF_16BE;
    Some(if is_wide { UTF_8 } else { encoding })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_page_says_about_itself_is_believed_as_long_as_it_fits() {
        let check = |bytes: &[u8], content_type: &str, expected: &str| {
            assert_eq!(decode(bytes, content_type), expected, "{content_type}");
        };
        check(b"caf\xe9", "text/html; charset=ISO-8859-1", "café");
        check(b"caf\xe9", "text/html; Charset=\"windows-1252\"", "café");
        check("café".as_bytes(), "text/html; charset=utf-8", "café");
        check(b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=latin1", "café");
        check(b"\xff\xfeh\0i\0", "", "hi");
        check(b"<meta charset=koi8-r>\xcd\xc9\xd2", "text/html", "<meta charset=koi8-r>мир");
        let old =
            b"<meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'>\x93\xfa\x96{";
        assert!(decode(old, "text/html").ends_with("日本"));
        check(
            b"<?xml version='1.0' encoding='iso-8859-15'?>\xa4",
            "",
            "<?xml version='1.0' encoding='iso-8859-15'?>€",
        );
        check("日本".as_bytes(), "text/plain", "日本");
        // Wrong words about itself.
        check("<p>日本</p>".as_bytes(), "text/html; charset=shift_jis-no-such", "<p>日本</p>");
        check(
            b"<p>caf\xe9 au lait, d\xe9j\xe0 vu</p>",
            "text/html; charset=utf-8",
            "<p>café au lait, déjà vu</p>",
        );
        check("<meta charset=utf-16>é".as_bytes(), "", "<meta charset=utf-16>é");
    }

    proptest! {
        #[test]
        fn any_bytes_under_any_name_are_some_text(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            label in "(utf-8|utf-16|utf-16be|shift_jis|gb18030|big5|euc-kr|iso-2022-jp|replacement|x-user-defined|.{0,12})",
            meta in any::<bool>(),
        ) {
            let start = if meta { format!("<meta charset={label}>") } else { String::new() };
            let page = [start.as_bytes(), &bytes].concat();
            decode(&page, &format!("text/html; charset={label}"));
            decode(&page, "text/html");
        }
    }
}
