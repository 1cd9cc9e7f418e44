//! Cuts an expression into tokens and resolves its names: ids may hold `-` and the longest known one wins, which the library's own
//! identifiers can't do, so that it sees every path as a variable `p0`, `p1` and so on. What the tokens mean together is the library's
//! affair.

use super::error::{ExprError, MAX_PIECES, MAX_TEXT};
use super::functions::{self, FunctionInfo};
use crate::plan::names::{NameScope, Path, Root, is_id_byte, longest_known};
use std::ops::Range;

/// How deep brackets may nest.
const MAX_DEPTH: usize = 20;

/// What a token is to the guards.
#[derive(Clone, Copy)]
pub(super) enum LexemeKind {
    /// The end of an operand: a value, a field.
    Value,
    /// The name of a function; the operand before it, if it follows a `|`, is its first value.
    Function(&'static FunctionInfo, usize),
    /// An opening bracket with the index of its closing one.
    Open(usize),
    Close,
    /// `|`, and `-` before an operand.
    Prefix,
    /// `and`, `or`, `not`, `if`, `else`.
    Logic,
    Comma,
    /// A comparison, with the guard that takes both sides.
    Compare(Option<&'static str>),
    /// An operator that chains, with its strength.
    Chain(usize),
}

/// A piece of an expression.
pub(super) struct Lexeme {
    pub(super) kind: LexemeKind,
    /// The character that it starts at, from 1.
    pub(super) at: usize,
    /// How the library is to see it.
    pub(super) shown: String,
}

impl Lexeme {
    pub(super) fn error(&self, message: impl Into<String>) -> ExprError {
        ExprError::Syntax { message: message.into(), at: self.at }
    }
}

/// What may be behind an operand; a symbol is before its own prefixes.
const OPERATORS: [(&str, &str, LexemeKind); 22] = [
    ("===", "==", LexemeKind::Compare(None)),
    ("!==", "!=", LexemeKind::Compare(None)),
    ("==", "==", LexemeKind::Compare(None)),
    ("!=", "!=", LexemeKind::Compare(None)),
    ("<=", ",", LexemeKind::Compare(Some("at_most_"))),
    (">=", ",", LexemeKind::Compare(Some("at_least_"))),
    ("<", ",", LexemeKind::Compare(Some("less_"))),
    (">", ",", LexemeKind::Compare(Some("greater_"))),
    ("in", ",", LexemeKind::Compare(Some("within_"))),
    ("&&", "and", LexemeKind::Logic),
    ("||", "or", LexemeKind::Logic),
    ("and", "and", LexemeKind::Logic),
    ("or", "or", LexemeKind::Logic),
    ("if", "if", LexemeKind::Logic),
    ("else", "else", LexemeKind::Logic),
    ("+", "+", LexemeKind::Chain(0)),
    ("-", "-", LexemeKind::Chain(0)),
    ("~", "~", LexemeKind::Chain(1)),
    ("*", "*", LexemeKind::Chain(2)),
    ("//", "//", LexemeKind::Chain(2)),
    ("/", "/", LexemeKind::Chain(2)),
    ("%", "%", LexemeKind::Chain(2)),
];

/// What is in a text.
pub(super) struct Scanned {
    pub(super) tokens: Vec<Lexeme>,
    /// In order of mention, with the place of the root's name.
    pub(super) paths: Vec<(Path, Range<usize>)>,
}

pub(super) fn scan(text: &str, scope: &dyn NameScope) -> Result<Scanned, ExprError> {
    if text.len() > MAX_TEXT {
        return Err(ExprError::TooMuch(format!("an expression has at most {MAX_TEXT} bytes, this one has {}", text.len())));
    }
    let bare = text.trim().strip_prefix("{{").and_then(|inner| inner.strip_suffix("}}")).filter(|inner| !inner.contains("{{"));
    let at = bare.map_or(0, |inner| inner.as_ptr().addr() - text.as_ptr().addr());
    let end = bare.map_or(text.len(), |inner| at + inner.len());
    let mut scanner = ExprScanner { text: &text[..end], at, scope, tokens: Vec::new(), paths: Vec::new(), open: Vec::new() };
    while let Some(next) = scanner.next() {
        scanner.token(next)?;
        if scanner.tokens.len() > MAX_PIECES {
            let words = "names, values and operators; compute a part of it in an earlier node";
            return Err(ExprError::TooMuch(format!("an expression has at most {MAX_PIECES} {words}")));
        }
    }
    match scanner.open.last() {
        _ if !scanner.ended() => Err(scanner.unexpected("a value")),
        Some(open) => Err(scanner.unexpected(if scanner.tokens[*open].shown == "(" { "`)`" } else { "`]`" })),
        None => Ok(Scanned { tokens: scanner.tokens, paths: scanner.paths }),
    }
}

struct ExprScanner<'a> {
    text: &'a str,
    at: usize,
    scope: &'a dyn NameScope,
    tokens: Vec<Lexeme>,
    paths: Vec<(Path, Range<usize>)>,
    /// The tokens of the brackets that are open.
    open: Vec<usize>,
}

impl<'a> ExprScanner<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character that is no space.
    fn next(&mut self) -> Option<char> {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.rest().chars().next()
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let is_word = symbol.starts_with(is_word_char);
        let found = self.rest().strip_prefix(symbol).is_some_and(|rest| !is_word || !rest.starts_with(is_word_char));
        self.at += if found { symbol.len() } else { 0 };
        found
    }

    fn take(&mut self, accepts: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !accepts(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn character(&self, at: usize) -> usize {
        self.text[..at].chars().count() + 1
    }

    fn error(&self, message: impl Into<String>) -> ExprError {
        ExprError::Syntax { message: message.into(), at: self.character(self.at) }
    }

    fn unexpected(&self, expected: &str) -> ExprError {
        let word = self.rest().find(|c| !is_word_char(c)).unwrap_or(self.rest().len());
        match self.rest().chars().next() {
            Some(_) if word > 0 => self.error(format!("expected {expected}, found `{}`", &self.rest()[..word])),
            Some(c) => self.error(format!("expected {expected}, found `{}`", c.escape_debug())),
            None => self.error(format!("expected {expected}, found the end")),
        }
    }

    fn push(&mut self, kind: LexemeKind, at: usize, shown: impl Into<String>) {
        self.tokens.push(Lexeme { kind, at: self.character(at), shown: shown.into() });
    }

    fn last(&self) -> Option<LexemeKind> {
        self.tokens.last().map(|token| token.kind)
    }

    /// Whether an operand ends here, so that an operator may follow.
    fn ended(&self) -> bool {
        matches!(self.last(), Some(LexemeKind::Value | LexemeKind::Close | LexemeKind::Function(_, 1)))
    }

    fn token(&mut self, next: char) -> Result<(), ExprError> {
        let at = self.at;
        match next {
            '(' if self.ended() && !matches!(self.last(), Some(LexemeKind::Function(..))) => {
                Err(self.error("only built-in functions can be called"))
            }
            '(' | '[' => self.open(next),
            ')' | ']' => self.close(next),
            ',' if self.ended() && self.open.last().is_some_and(|open| self.takes_commas(*open)) => {
                self.at += 1;
                self.push(LexemeKind::Comma, at, ",");
                Ok(())
            }
            _ if self.ended() => self.operator(next),
            '"' | '\'' => {
                let quoted = self.quoted()?;
                self.push(LexemeKind::Value, at, quoted);
                Ok(())
            }
            '-' | '!' => {
                self.at += 1;
                let (kind, shown) = if next == '-' { (LexemeKind::Prefix, "-") } else { (LexemeKind::Logic, "not") };
                self.push(kind, at, shown);
                Ok(())
            }
            _ if is_word_char(next) => self.name(),
            _ => Err(self.unexpected("a value")),
        }
    }

    /// Lists and the values of a function have commas; brackets around an operand and the key of a field don't.
    fn takes_commas(&self, open: usize) -> bool {
        let before = open.checked_sub(1).map(|before| self.tokens[before].kind);
        match before {
            Some(LexemeKind::Function(..)) => true,
            Some(LexemeKind::Value | LexemeKind::Close) => false,
            _ => self.tokens[open].shown == "[",
        }
    }

    fn open(&mut self, bracket: char) -> Result<(), ExprError> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.error("the expression is nested too deeply"));
        }
        self.open.push(self.tokens.len());
        self.push(LexemeKind::Open(0), self.at, bracket);
        self.at += 1;
        Ok(())
    }

    fn close(&mut self, bracket: char) -> Result<(), ExprError> {
        let opening = if bracket == ')' { "(" } else { "[" };
        // Nothing may be in them, or nothing behind the last comma.
        let may_end = |open| self.takes_commas(open) && matches!(self.last(), Some(LexemeKind::Open(_) | LexemeKind::Comma));
        match self.open.last() {
            Some(open) if self.tokens[*open].shown == opening && (self.ended() || may_end(*open)) => {
                self.tokens[*open].kind = LexemeKind::Open(self.tokens.len());
                self.open.pop();
                self.push(LexemeKind::Close, self.at, bracket);
                self.at += 1;
                Ok(())
            }
            _ => Err(self.unexpected(if self.ended() { "an operator or the end" } else { "a value" })),
        }
    }

    /// What follows an operand.
    fn operator(&mut self, next: char) -> Result<(), ExprError> {
        let at = self.at;
        if next == '.' {
            let field = self.field()?;
            let is_position = field.bytes().all(|b| b.is_ascii_digit());
            self.push(LexemeKind::Value, at, if is_position { format!("[{field}]") } else { format!("[\"{field}\"]") });
        } else if next == '|' && !self.rest().starts_with("||") {
            self.at += 1;
            self.push(LexemeKind::Prefix, at, "|");
            self.next();
            self.function(1)?;
        } else if let Some((_, shown, kind)) = OPERATORS.iter().find(|(symbol, _, _)| self.eat(symbol)) {
            self.push(*kind, at, *shown);
        } else if self.eat("not") && self.next().is_some() && self.eat("in") {
            self.push(LexemeKind::Compare(Some("not_within_")), at, ",");
        } else {
            self.at = at;
            return Err(self.unexpected("an operator or the end"));
        }
        Ok(())
    }

    /// A word where an operand is expected: a known name, a number, a word of the language, a function.
    fn name(&mut self) -> Result<(), ExprError> {
        let start = self.at;
        let run = &self.rest()[..self.rest().bytes().take_while(|b| is_id_byte(*b)).count()];
        let word = self.take(is_word_char);
        let is_number = word.bytes().all(|b| b.is_ascii_digit());
        let known = longest_known(run, self.scope);
        if let Some((root, length)) = &known
            && (*length > word.len() || (word.starts_with(|c: char| c.is_ascii_digit()) && !is_number))
        {
            // A node `not-found` is not the word `not`.
            self.path(root.clone(), start, *length);
            return Ok(());
        }
        let (kind, shown) = match word {
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => {
                self.at = start;
                (LexemeKind::Value, self.number())
            }
            "true" | "True" => (LexemeKind::Value, "true"),
            "false" | "False" => (LexemeKind::Value, "false"),
            // The library's undefined is the one null here: nothing binds this name.
            "null" | "none" | "None" => (LexemeKind::Value, "null_"),
            "not" => (LexemeKind::Logic, "not"),
            "and" | "or" | "in" | "if" | "else" => {
                self.at = start;
                return Err(self.unexpected("a value"));
            }
            "inputs" => {
                self.fields(Root::Inputs, start..self.at);
                return Ok(());
            }
            "deps" | "nodes" => return self.entry(word),
            _ if self.rest().trim_start().starts_with('(') => {
                self.at = start;
                return self.function(0);
            }
            _ => {
                let unknown = run.trim_end_matches('-');
                let (root, length) = known.unwrap_or_else(|| (Root::Unknown(unknown.to_owned()), unknown.len()));
                self.path(root, start, length);
                return Ok(());
            }
        };
        self.push(kind, start, shown);
        Ok(())
    }

    /// A function that has some values before its brackets.
    fn function(&mut self, before: usize) -> Result<(), ExprError> {
        let start = self.at;
        let name = self.take(is_word_char);
        let Some(info) = functions::named(name) else {
            self.at = start;
            return Err(self.error(format!("there is no function `{name}`")));
        };
        self.push(LexemeKind::Function(info, before), start, name);
        Ok(())
    }

    fn number(&mut self) -> &'a str {
        let start = self.at;
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        self.at += digits(self.rest());
        let fraction = self.rest().strip_prefix('.').map_or(0, digits);
        self.at += if fraction > 0 { fraction + 1 } else { 0 };
        if let Some(exponent) = self.rest().strip_prefix(['e', 'E']) {
            let sign = usize::from(exponent.starts_with(['+', '-']));
            let power = digits(&exponent[sign..]);
            self.at += if power > 0 { 1 + sign + power } else { 0 };
        }
        &self.text[start..self.at]
    }

    /// The node behind `deps` or `nodes`.
    fn entry(&mut self, word: &str) -> Result<(), ExprError> {
        let start = self.at;
        if let Some(id) = self.constant_index() {
            let written = &self.text[start..self.at];
            let quotes = written.find(['"', '\'']).zip(written.rfind(['"', '\'']));
            self.fields(Root::Entry(id), quotes.map_or(start..self.at, |(first, last)| start + first..start + last + 1));
            return Ok(());
        }
        if self.eat(".") {
            let run = &self.rest()[..self.rest().bytes().take_while(|b| is_id_byte(*b)).count()];
            let id = match longest_known(run, self.scope) {
                Some((Root::Node(id), _)) => id,
                _ => run.to_owned(),
            };
            if !id.is_empty() {
                let length = id.len();
                self.path(Root::Entry(id), self.at, length);
                return Ok(());
            }
        }
        Err(self.error(format!("expected a node after `{word}`, as in `{word}[\"id\"]`")))
    }

    fn path(&mut self, root: Root, start: usize, length: usize) {
        self.at = start + length;
        self.fields(root, start..self.at);
    }

    /// The fields behind a root as far as they are written out.
    fn fields(&mut self, root: Root, span: Range<usize>) {
        let mut fields = Vec::new();
        loop {
            let start = self.at;
            match self.constant_index().or_else(|| self.field().ok().map(str::to_owned)) {
                Some(field) => fields.push(field),
                None => {
                    self.at = start;
                    break;
                }
            }
        }
        self.push(LexemeKind::Value, span.start, format!("p{}", self.paths.len()));
        self.paths.push((Path { root, fields }, span));
    }

    fn field(&mut self) -> Result<&'a str, ExprError> {
        if !self.eat(".") {
            return Err(self.unexpected("`.`"));
        }
        let field = self.take(is_word_char);
        if field.is_empty() { Err(self.unexpected("a field")) } else { Ok(field) }
    }

    /// `["key"]` or `[0]`, if that is what comes. A key with an escape is left to be looked up as it runs.
    fn constant_index(&mut self) -> Option<String> {
        let start = self.at;
        let found = (|| {
            self.eat("[").then(|| self.next())??;
            let key = match self.quoted() {
                Ok(quoted) if !quoted.contains('\\') => &quoted[1..quoted.len() - 1],
                _ => self.take(|c| c.is_ascii_digit()),
            };
            self.next()?;
            (!key.is_empty() && self.eat("]")).then(|| key.to_owned())
        })();
        if found.is_none() {
            self.at = start;
        }
        found
    }

    /// A text as it is written, quotes included; its escapes are the library's affair.
    fn quoted(&mut self) -> Result<&'a str, ExprError> {
        let rest = self.rest();
        let mut chars = rest.char_indices();
        let quote = chars.next().map(|(_, c)| c).filter(|c| matches!(c, '"' | '\''));
        while let (Some(_), Some((i, c))) = (quote, chars.next()) {
            if c == '\\' {
                chars.next();
            } else if Some(c) == quote {
                self.at += i + 1;
                return Ok(&rest[..=i]);
            }
        }
        Err(self.error("a text has no closing quote"))
    }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a name alone would be read as something else than a node: a word, a number.
pub(super) fn is_word_of_language(name: &str) -> bool {
    let words = ["true", "True", "false", "False", "null", "none", "None", "and", "or", "not", "in", "if", "else"];
    words.contains(&name) || name.bytes().all(|b| b.is_ascii_digit())
}
