//! Tokens that are known by their shape.

use std::sync::LazyLock;

use regex::Regex;

use super::span::Span;

/// A kind of token.
#[derive(Debug)]
pub(super) struct Shape {
    /// What it is called.
    kind: &'static str,
    /// Some of these is in every such token, in whatever case.
    pub(super) marks: &'static [&'static str],
    regex: LazyLock<Regex>,
    /// What else it must look like.
    looks: fn(&str) -> bool,
}

impl Shape {
    /// Adds every such token of a text.
    pub(super) fn find(&self, text: &str, spans: &mut Vec<Span>) {
        for captures in self.regex.captures_iter(text) {
            // What is secret of it is in its only group, if it has one.
            let Some(secret) = captures.get(1).or_else(|| captures.get(0)) else { continue };
            if (self.looks)(secret.as_str()) {
                spans.push(Span::shape(secret.range(), self.kind));
            }
        }
    }
}

macro_rules! shapes {
    ($($kind:literal $marks:tt $pattern:literal $looks:ident;)*) => {
        /// Every kind of token that is known.
        pub(super) static SHAPES: [Shape; [$($kind),*].len()] = [$(Shape {
            kind: $kind,
            marks: &$marks,
            regex: LazyLock::new(|| Regex::new($pattern).expect("the pattern is fixed")),
            looks: $looks,
        }),*];
    };
}

// No pattern has a part behind a match that could make it look far ahead in vain: together with
// an engine that does not backtrack, that keeps the whole linear.
shapes! {
    "aws access key" ["AKIA", "ASIA", "ABIA", "ACCA"] r"(?:A(?:KIA|SIA|BIA|CCA))[A-Z0-9]{16,}" mixed_capitals;
    "github token" ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"] r"gh[pousr]_[A-Za-z0-9]{30,}" anything;
    "github token" ["github_pat_"] r"github_pat_[A-Za-z0-9_]{22,}" anything;
    "gitlab token" ["glpat-", "gldt-", "glptt-", "glrt-", "glft-", "glcbt-", "gloas-", "glsoat-"]
        r"gl(?:pat|dt|ptt|rt|ft|cbt|oas|soat)-[A-Za-z0-9_.-]{20,}" anything;
    "slack token" ["xox", "xapp-"] r"(?:xox[abeoprs]|xapp)-[A-Za-z0-9.-]{10,}" has_digit;
    "slack webhook" ["hooks.slack.com"] r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})" anything;
    "discord webhook" ["/api/webhooks/"] r"/api/webhooks/[0-9]{10,}/([A-Za-z0-9_-]{30,})" anything;
    "stripe key" ["k_live_", "k_test_"] r"(?-u:\b|_)[sr]k_(?:live|test)_[A-Za-z0-9]{16,}" anything;
    "stripe webhook secret" ["whsec_"] r"whsec_[A-Za-z0-9+/=]{24,}" anything;
    "anthropic key" ["sk-ant-"] r"sk-ant-[A-Za-z0-9_-]{16,}" anything;
    "openai key" ["sk-"] r"(?-u:\b|_)sk-[A-Za-z0-9_-]{20,}" random;
    "google api key" ["AIza"] r"AIza[A-Za-z0-9_-]{30,}" anything;
    "google oauth token" ["ya29."] r"(?-u:\b|_)ya29\.[A-Za-z0-9_-]{20,}" anything;
    "google client secret" ["GOCSPX-"] r"GOCSPX-[A-Za-z0-9_-]{20,}" anything;
    "npm token" ["npm_"] r"npm_[A-Za-z0-9]{30,}" anything;
    "pypi token" ["pypi-"] r"pypi-[A-Za-z0-9_-]{32,}" random;
    "json web token" ["eyJ"] r"(?-u:\b|_)eyJ[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*){2,4}" two_dots_of_text;
    "hugging face token" ["hf_"] r"(?-u:\b|_)hf_[A-Za-z0-9]{30,}" anything;
    "sendgrid key" ["SG."] r"(?-u:\b|_)SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}" anything;
    "twilio key" ["SK"] r"(?-u:\b|_)SK[0-9a-f]{32}" anything;
    "digitalocean token" ["dop_v1_", "doo_v1_", "dor_v1_"] r"do[por]_v1_[0-9a-f]{32,}" anything;
    "telegram token" [":AA"] r"(?-u:\b|bot)[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}" anything;
    "age secret key" ["AGE-SECRET-KEY-"] r"AGE-SECRET-KEY-1[A-Z0-9]{20,}" anything;
    "vault token" ["hvs.", "hvb."] r"(?-u:\b|_)hv[sb]\.[A-Za-z0-9_-]{24,}" anything;
    "docker token" ["dckr_pat_", "dckr_oat_"] r"dckr_[po]at_[A-Za-z0-9_-]{20,}" anything;
    "databricks token" ["dapi"] r"(?-u:\b|_)dapi[0-9a-f]{32}(?:-[0-9]+)?" anything;
    "shopify token" ["shpat_", "shpca_", "shppa_", "shpss_"] r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32,}" anything;
    "linear key" ["lin_api_", "lin_oauth_"] r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}" anything;
    "notion token" ["ntn_"] r"(?-u:\b|_)ntn_[A-Za-z0-9]{40,}" anything;
    "grafana token" ["glsa_", "glc_"] r"gl(?:sa|c)_[A-Za-z0-9+/=_]{28,}" anything;
    "groq key" ["gsk_"] r"(?-u:\b|_)gsk_[A-Za-z0-9]{32,}" anything;
    "xai key" ["xai-"] r"(?-u:\b|_)xai-[A-Za-z0-9]{40,}" anything;
    "replicate token" ["r8_"] r"(?-u:\b|_)r8_[A-Za-z0-9]{32,}" anything;
    "supabase token" ["sbp_", "sb_secret_"] r"sb(?:p|_secret)_[A-Za-z0-9_-]{20,}" has_digit;
    "atlassian token" ["ATATT3", "ATCTT3"] r"AT[AC]TT3[A-Za-z0-9_=-]{40,}" anything;
    "postman key" ["PMAK-"] r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}" anything;
    "mailgun key" ["key-"] r"(?-u:\b|_)key-[0-9a-f]{32}" anything;
    "azure signature" ["sig="] r"[?&]sig=([A-Za-z0-9%/+=_-]{20,})" anything;
    "credential" ["bearer"] r"(?i-u:\b)(?i:bearer)[ \t]+([A-Za-z0-9._~+/=-]{16,})" has_digit;
    "credential" ["authorization"]
        r#"(?i:authorization)["']?\s{0,4}[:=]\s{0,4}["']?(?:(?i:bearer|basic|token|digest|negotiate|apikey)[ \t]+)?([^\s"',;]{4,})"# no_reference;
    "password" ["://"] r#"[A-Za-z0-9+.-]://[^\s/:@"'<>`\[\]{}]*:([^\s/"'<>`{}]+)@"# no_reference;
    "password" ["mysql", "mariadb", "mycli", "7z"]
        r#"(?:mysql[a-z]*|mariadb[a-z-]*|mycli|7z[arz]?)(?-u:\b)[^\n|;&]*?[ \t]-p["']?([^\s"'$-][^\s"']*)"# anything;
    "password" ["sshpass", "mongo", " login", "cqlsh", "ncftp"]
        r#"(?:sshpass|mongo[a-z]*|(?:docker|podman|nerdctl|registry|oras|oc|az) login|cqlsh|ncftp[a-z]*)(?-u:\b)[^\n|;&]*?[ \t]-p[ \t=]{0,2}["']?([^\s"'$-][^\s"']*)"# anything;
    "password" ["redis-cli", "valkey-cli"] r#"(?:redis|valkey)-cli(?-u:\b)[^\n|;&]*?[ \t]-a[ \t]{0,2}["']?([^\s"'$-][^\s"']*)"# anything;
    "password" ["ldap"] r#"ldap[a-z]+(?-u:\b)[^\n|;&]*?[ \t]-w[ \t]{0,2}["']?([^\s"'$-][^\s"']*)"# anything;
    "password" ["ssh-keygen"] r#"ssh-keygen(?-u:\b)[^\n|;&]*?[ \t]-[PN][ \t]{0,2}["']?([^\s"'$-][^\s"']*)"# anything;
    "password" ["zip", "sqlcmd", "bcp"]
        r#"(?-u:\b)(?:(?:un)?zip|sqlcmd|bcp)(?-u:\b)[^\n|;&]*?[ \t]-P[ \t]{0,2}["']?([^\s"'$-][^\s"']*)"# anything;
    "password" ["plink", "pscp", "psftp", "putty"] r#"(?:plink|pscp|psftp|putty)(?-u:\b)[^\n|;&]*?[ \t]-pw[ \t]+["']?([^\s"'$-][^\s"']*)"# anything;
    "password" ["smbclient", "rpcclient"] r#"(?:smb|rpc)client(?-u:\b)[^\n|;&]*?[ \t]-U[ \t]{0,2}["']?[^\s"'%]+%([^\s"']+)"# anything;
    "password" ["pass:"] r#"-pass(?:in|out|word)?[ \t=]+["']?pass:([^\s"']+)"# no_reference;
    "password" ["htpasswd"] r#"htpasswd[ \t]+-[A-Za-z]*b[A-Za-z]*[ \t]+[^\s]+[ \t]+[^\s]+[ \t]+["']?([^\s"'$]+)"# anything;
    "password" ["lftp"] r#"lftp(?-u:\b)[^\n|;&]*?[ \t]-u[ \t]{0,2}["']?[^\s"',]+,([^\s"']+)"# anything;
    "password" ["http", "xh"] r#"(?:^|[\s;|&])(?:https?|xhs?|httpie)[ \t][^\n|;&]*?(?:-a|--auth)[ =]{1,2}["']?[^\s:"'$]+:([^\s"'$/][^\s"'$]*)"# anything;
    "password" ["_auth=", "_pwd=", "pgpass", "sshpass="] r#"(?:REDISCLI_AUTH|MYSQL_PWD|SSHPASS|PGPASSWORD)=["']?([^\s"'$;&|]+)"# no_reference;
    "password" ["curl"] r#"curl(?-u:\b)[^\n|;]*?[ \t](?:-[A-Za-z]*[uU]|--user|--proxy-user)[ =]?["']?[^\s:"'$]+:([^\s"'$]+)"# anything;
}

fn anything(_: &str) -> bool {
    true
}

fn has_digit(token: &str) -> bool {
    token.bytes().any(|byte| byte.is_ascii_digit())
}

/// Words joined by dashes have no digits among them, and seldom capitals.
fn random(token: &str) -> bool {
    has_digit(token) && token.bytes().skip(3).any(|byte| byte.is_ascii_uppercase())
        || token.bytes().filter(u8::is_ascii_digit).count() >= 6
}

/// A word in capitals has no digits.
fn mixed_capitals(token: &str) -> bool {
    has_digit(token) || token.len() == 20
}

/// Something is in each of the first two parts.
fn two_dots_of_text(token: &str) -> bool {
    token.split('.').nth(1).is_some_and(|part| part.len() >= 4 || token.contains(".."))
}

/// `${NAME}` and the like stand for a secret without being one.
fn no_reference(secret: &str) -> bool {
    !secret.starts_with(['$', '<', '{', '*', '%'])
}
