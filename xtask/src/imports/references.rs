//! The places of the own crate that a source file names.

use std::collections::BTreeSet;

use anyhow::Result;
use proc_macro2::{Span, TokenStream, TokenTree};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, Meta, Token, UseTree, Visibility};

use super::module::ModulePath;

/// What one file names.
#[derive(Debug, Default)]
pub(super) struct FileReferences {
    pub(super) references: Vec<Reference>,
    /// Modules that the file declares for tests only.
    pub(super) test_modules: Vec<ModulePath>,
}

/// A path into the own crate.
#[derive(Debug)]
pub(super) struct Reference {
    /// The path from the root; its last names may be items.
    pub(super) target: ModulePath,
    /// The path as written.
    pub(super) text: String,
    pub(super) line: usize,
    /// From a `use` with a visibility.
    pub(super) is_re_export: bool,
}

/// Collects what `source`, the text of `module`, names; `modules` are the files
/// of the crate, which tell `permit::new` in `gate` from a path into a dependency.
pub(super) fn parse(
    source: &str,
    module: &ModulePath,
    modules: &BTreeSet<ModulePath>,
) -> Result<FileReferences> {
    let file = syn::parse_file(source)?;
    let mut collector =
        Collector { place: module.clone(), modules, found: FileReferences::default() };
    collector.visit_file(&file);
    Ok(collector.found)
}

struct Collector<'a> {
    /// The file's module, or the inline module being visited.
    place: ModulePath,
    modules: &'a BTreeSet<ModulePath>,
    found: FileReferences,
}

/// How a path is written: in an import, or anywhere else.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Written {
    ReExport,
    Import,
    Inline,
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if !is_for_tests(attributes(item)) {
            visit::visit_item(self, item);
        } else if let Item::Mod(module) = item {
            let place = self.place.child(&module.ident.to_string());
            self.found.test_modules.push(place);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let outer = self.place.clone();
        self.place = outer.child(&module.ident.to_string());
        visit::visit_item_mod(self, module);
        self.place = outer;
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        if import.leading_colon.is_some() {
            return;
        }
        let written = match import.vis {
            Visibility::Inherited => Written::Import,
            _ => Written::ReExport,
        };
        self.add_use_tree(&import.tree, &mut Vec::new(), written);
    }

    /// `pub(super)` and `pub(in path)` name modules without depending on them.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names: Vec<_> = path.segments.iter().map(|part| name_of(&part.ident)).collect();
            self.add(&names, Written::Inline);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.add_tokens(call.tokens.clone());
    }
}

/// A name with where it stands.
type Name = (String, Span);

fn name_of(ident: &proc_macro2::Ident) -> Name {
    (ident.to_string(), ident.span())
}

impl Collector<'_> {
    fn add_use_tree(&mut self, tree: &UseTree, before: &mut Vec<Name>, written: Written) {
        match tree {
            UseTree::Path(path) => {
                before.push(name_of(&path.ident));
                self.add_use_tree(&path.tree, before, written);
                before.pop();
            }
            UseTree::Group(group) => {
                for branch in &group.items {
                    self.add_use_tree(branch, before, written);
                }
            }
            UseTree::Name(leaf) => self.add_leaf(name_of(&leaf.ident), before, written),
            UseTree::Rename(leaf) => self.add_leaf(name_of(&leaf.ident), before, written),
            UseTree::Glob(glob) => {
                let star = glob.star_token.spans.first().copied();
                let span = star.unwrap_or_else(Span::call_site);
                self.add_leaf(("*".to_owned(), span), before, written);
            }
        }
    }

    fn add_leaf(&mut self, leaf: Name, before: &mut Vec<Name>, written: Written) {
        before.push(leaf);
        self.add(before, written);
        before.pop();
    }

    fn add(&mut self, names: &[Name], written: Written) {
        let Some((_, span)) = names.last() else {
            return;
        };
        let plain: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        if let Some(target) = self.resolve(&plain, written) {
            self.found.references.push(Reference {
                target,
                text: plain.join("::"),
                line: span.start().line,
                is_re_export: written == Written::ReExport,
            });
        }
    }

    /// Where a path leads from the current place, if into the own crate.
    fn resolve(&self, names: &[&str], written: Written) -> Option<ModulePath> {
        let (first, mut rest) = names.split_first()?;
        if rest.is_empty() && written == Written::Inline {
            // A lone `self` or a local name.
            return None;
        }
        let mut target = match *first {
            "crate" => ModulePath::root(),
            "self" => self.place.clone(),
            "super" => self.place.parent(),
            name => {
                let child = self.place.child(name);
                self.modules.contains(&child).then_some(child)?
            }
        };
        while let Some(("super", after)) = rest.split_first().map(|(name, after)| (*name, after)) {
            target = target.parent();
            rest = after;
        }
        for name in rest.iter().filter(|name| !["self", "*"].contains(name)) {
            target = target.child(name);
        }
        Some(target)
    }

    /// Paths inside a macro call, which is not parsed as Rust.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<Name> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                }
                TokenTree::Ident(ident) if colons == 2 => {
                    path.push(name_of(&ident));
                    colons = 0;
                }
                other => {
                    self.add(&path, Written::Inline);
                    path.clear();
                    colons = 0;
                    match other {
                        TokenTree::Ident(ident) => path.push(name_of(&ident)),
                        TokenTree::Group(group) => self.add_tokens(group.stream()),
                        TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                    }
                }
            }
        }
        self.add(&path, Written::Inline);
    }
}

fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.parse_args::<Meta>().is_ok_and(|condition| requires_test(&condition))
    })
}

/// `test`, or `all(…)` with it among the conditions.
fn requires_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|conditions| conditions.iter().any(requires_test)),
        Meta::List(_) | Meta::NameValue(_) => false,
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
