//! The grammar of expressions: precedence climbing over the bytes of the text, with a limit on nesting.

use super::ast::{Ast, Operator};
use super::{ExprError, MAX_TEXT, functions::Function};
use crate::plan::names::{Path, Root, Scope, is_id_byte, longest_known};
use serde_json::{Number, Value};
use std::ops::Range;

/// How deep expressions may nest.
const MAX_DEPTH: usize = 48;

#[derive(Clone, Copy, PartialEq)]
enum Infix {
    Or,
    And,
    Op(Operator),
}

const COMPARE: u8 = 3;
/// Symbols with how tightly they bind; a symbol stands before its own prefixes.
const SYMBOLS: [(&str, Infix, u8); 19] = [
    ("===", Infix::Op(Operator::Equal), COMPARE),
    ("!==", Infix::Op(Operator::NotEqual), COMPARE),
    ("==", Infix::Op(Operator::Equal), COMPARE),
    ("!=", Infix::Op(Operator::NotEqual), COMPARE),
    ("<=", Infix::Op(Operator::LessOrEqual), COMPARE),
    (">=", Infix::Op(Operator::GreaterOrEqual), COMPARE),
    ("<", Infix::Op(Operator::Less), COMPARE),
    (">", Infix::Op(Operator::Greater), COMPARE),
    ("&&", Infix::And, 2),
    ("||", Infix::Or, 1),
    ("+", Infix::Op(Operator::Add), 4),
    ("-", Infix::Op(Operator::Subtract), 4),
    ("~", Infix::Op(Operator::Concat), 4),
    ("*", Infix::Op(Operator::Multiply), 5),
    ("//", Infix::Op(Operator::FloorDivide), 5),
    ("/", Infix::Op(Operator::Divide), 5),
    ("%", Infix::Op(Operator::Remainder), 5),
    ("and", Infix::And, 2),
    ("or", Infix::Or, 1),
];

pub(super) fn parse(text: &str, scope: &dyn Scope) -> Result<Ast, ExprError> {
    if text.len() > MAX_TEXT {
        return Err(ExprError::TooMuch(format!("an expression has at most {MAX_TEXT} bytes, this one has {}", text.len())));
    }
    let mut parser = Parser { text, at: 0, depth: 0, scope };
    let wrapped = text.trim().strip_prefix("{{").and_then(|inner| inner.strip_suffix("}}"));
    if wrapped.is_some_and(|inner| !inner.contains("{{")) {
        parser.space();
        parser.at += 2;
    }
    let ast = parser.expression()?;
    parser.space();
    if wrapped.is_some() {
        parser.eat("}}");
        parser.space();
    }
    if parser.at < text.len() { Err(parser.unexpected("an operator or the end")) } else { Ok(ast) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    scope: &'a dyn Scope,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let found = self.rest().starts_with(symbol);
        if found {
            self.at += symbol.len();
        }
        found
    }

    /// Takes a word that ends where it is given.
    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.rest().strip_prefix(word).is_some_and(|rest| !rest.starts_with(is_word_char));
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ExprError> {
        self.space();
        if self.eat(symbol) { Ok(()) } else { Err(self.unexpected(&format!("`{symbol}`"))) }
    }

    fn error(&self, message: impl Into<String>) -> ExprError {
        ExprError::Syntax { message: message.into(), at: self.text[..self.at].chars().count() + 1 }
    }

    fn unexpected(&self, expected: &str) -> ExprError {
        match self.peek() {
            Some(c) => self.error(format!("expected {expected}, found `{}`", c.escape_debug())),
            None => self.error(format!("expected {expected}, found the end")),
        }
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, ExprError>) -> Result<T, ExprError> {
        if self.depth == MAX_DEPTH {
            return Err(self.error("the expression nests too deep"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn expression(&mut self) -> Result<Ast, ExprError> {
        self.nested(|parser| {
            let yes = parser.infix(1)?;
            parser.space();
            if !parser.eat_word("if") {
                return Ok(yes);
            }
            let test = parser.infix(1)?;
            parser.space();
            if !parser.eat_word("else") {
                return Err(parser.unexpected("`else`"));
            }
            let no = parser.expression()?;
            Ok(Ast::If { test: Box::new(test), yes: Box::new(yes), no: Box::new(no) })
        })
    }

    /// Everything that binds at least as tightly as `tightness`.
    fn infix(&mut self, tightness: u8) -> Result<Ast, ExprError> {
        let mut left = self.prefix()?;
        loop {
            self.space();
            let start = self.at;
            let Some((infix, binds)) = self.operator() else { return Ok(left) };
            if binds < tightness {
                self.at = start;
                return Ok(left);
            }
            let right = Box::new(self.infix(binds + 1)?);
            left = match infix {
                Infix::Or => Ast::Or(Box::new(left), right),
                Infix::And => Ast::And(Box::new(left), right),
                Infix::Op(operator) => Ast::Binary(operator, Box::new(left), right),
            };
            self.space();
            let next = self.at;
            if binds == COMPARE && self.operator().is_some_and(|(_, binds)| binds == COMPARE) {
                self.at = next;
                return Err(self.error("comparisons don't chain, use `and`"));
            }
            self.at = next;
        }
    }

    fn operator(&mut self) -> Option<(Infix, u8)> {
        for (symbol, infix, binds) in SYMBOLS {
            let is_word = symbol.starts_with(is_word_char);
            if if is_word { self.eat_word(symbol) } else { self.eat(symbol) } {
                return Some((infix, binds));
            }
        }
        if self.eat_word("in") {
            return Some((Infix::Op(Operator::In), COMPARE));
        }
        let start = self.at;
        if self.eat_word("not") {
            self.space();
            if self.eat_word("in") {
                return Some((Infix::Op(Operator::NotIn), COMPARE));
            }
            self.at = start;
        }
        None
    }

    fn prefix(&mut self) -> Result<Ast, ExprError> {
        self.space();
        if self.eat("!") || (self.known_beyond("not").is_none() && self.eat_word("not")) {
            return self.nested(|parser| parser.infix(COMPARE)).map(|ast| Ast::Not(Box::new(ast)));
        }
        let mut ast = self.negation()?;
        loop {
            self.space();
            if self.rest().starts_with("||") || !self.eat("|") {
                return Ok(ast);
            }
            self.space();
            let name = self.word();
            let arguments = if self.rest().starts_with('(') { self.arguments()? } else { Vec::new() };
            ast = self.call(name, std::iter::once(ast).chain(arguments).collect())?;
        }
    }

    fn negation(&mut self) -> Result<Ast, ExprError> {
        self.space();
        if self.eat("-") {
            return self.nested(Self::negation).map(|ast| Ast::Negate(Box::new(ast)));
        }
        let mut ast = self.primary()?;
        loop {
            if self.eat("[") {
                let index = self.expression()?;
                self.expect("]")?;
                ast = Ast::Index(Box::new(ast), Box::new(index));
            } else if self.rest().starts_with('.') {
                self.at += 1;
                let field = self.word();
                if field.is_empty() {
                    return Err(self.unexpected("a field"));
                }
                ast = Ast::Index(Box::new(ast), Box::new(Ast::Literal(Value::from(field))));
            } else if self.rest().starts_with('(') {
                return Err(self.error("only the functions of the language can be called"));
            } else {
                return Ok(ast);
            }
        }
    }

    fn primary(&mut self) -> Result<Ast, ExprError> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let ast = self.expression()?;
                self.expect(")")?;
                Ok(ast)
            }
            Some('[') => self.items("[", "]").map(Ast::List),
            Some('"' | '\'') => self.quoted().map(|text| Ast::Literal(Value::String(text))),
            Some(c) if c.is_ascii_digit() => match self.known_beyond("") {
                Some((root, length)) if self.rest()[..length].bytes().any(|b| !b.is_ascii_digit()) => self.path(root, length),
                _ => self.number(),
            },
            Some(c) if is_word_char(c) => self.name(),
            _ => Err(self.unexpected("a value")),
        }
    }

    /// The longest known name here, if it is longer than `word`: a node `not-found` is not the word `not`.
    fn known_beyond(&self, word: &str) -> Option<(Root, usize)> {
        let run = self.rest().bytes().take_while(|b| is_id_byte(*b)).count();
        (run > 0).then(|| longest_known(&self.rest()[..run], self.scope)).flatten().filter(|(_, length)| *length > word.len())
    }

    fn name(&mut self) -> Result<Ast, ExprError> {
        let start = self.at;
        let word = self.word();
        self.at = start;
        if let Some((root, length)) = self.known_beyond(word) {
            return self.path(root, length);
        }
        self.at += word.len();
        match word {
            "true" | "True" => return Ok(Ast::Literal(Value::Bool(true))),
            "false" | "False" => return Ok(Ast::Literal(Value::Bool(false))),
            "null" | "none" | "None" => return Ok(Ast::Literal(Value::Null)),
            "and" | "or" | "not" | "in" | "if" | "else" => {
                self.at = start;
                return Err(self.error(format!("expected a value, found the word `{word}`")));
            }
            "inputs" => return self.path(Root::Inputs, 0),
            "deps" | "nodes" => return self.entry(word),
            _ => {}
        }
        if self.rest().trim_start().starts_with('(') {
            self.space();
            let arguments = self.arguments()?;
            return self.call(word, arguments);
        }
        self.at = start;
        let run = self.rest().bytes().take_while(|b| is_id_byte(*b)).count();
        match longest_known(&self.rest()[..run], self.scope) {
            Some((root, length)) => self.path(root, length),
            None => {
                let name = self.rest()[..run].trim_end_matches('-').to_owned();
                let length = name.len();
                self.path(Root::Unknown(name), length)
            }
        }
    }

    /// The node behind `deps` or `nodes`.
    fn entry(&mut self, word: &str) -> Result<Ast, ExprError> {
        let start = self.at;
        if let Some(id) = self.quoted_index() {
            let written = &self.text[start..self.at];
            let quotes = written.find(['"', '\'']).zip(written.rfind(['"', '\'']));
            let span = quotes.map_or(start..self.at, |(first, last)| start + first..start + last + 1);
            return self.fields(Root::Entry(id), span);
        }
        if self.eat(".") {
            let run = self.rest().bytes().take_while(|b| is_id_byte(*b)).count();
            let known = match longest_known(&self.rest()[..run], self.scope) {
                Some((Root::Node(id), length)) if run > 0 => Some((id, length)),
                _ => None,
            };
            let (id, length) = known.unwrap_or_else(|| (self.rest()[..run].to_owned(), run));
            if !id.is_empty() {
                return self.path(Root::Entry(id), length);
            }
        }
        Err(self.error(format!("expected a node after `{word}`, as in `{word}[\"id\"]`")))
    }

    /// A root of `length` bytes and the fields behind it that are written out.
    fn path(&mut self, root: Root, length: usize) -> Result<Ast, ExprError> {
        let span = self.at..self.at + length;
        self.at += length;
        self.fields(root, span)
    }

    fn fields(&mut self, root: Root, span: Range<usize>) -> Result<Ast, ExprError> {
        let mut fields = Vec::new();
        loop {
            if let Some(key) = self.quoted_index() {
                fields.push(key);
            } else if self.rest().starts_with('.') {
                self.at += 1;
                let field = self.word();
                if field.is_empty() {
                    return Err(self.unexpected("a field"));
                }
                fields.push(field.to_owned());
            } else {
                return Ok(Ast::Path(Path { root, fields }, span));
            }
        }
    }

    /// `["key"]` or `[0]`, if that is what comes.
    fn quoted_index(&mut self) -> Option<String> {
        let start = self.at;
        let found = (|| {
            if !self.eat("[") {
                return None;
            }
            self.space();
            let key = match self.peek()? {
                '"' | '\'' => self.quoted().ok()?,
                c if c.is_ascii_digit() => self.digits().to_owned(),
                _ => return None,
            };
            self.space();
            self.eat("]").then_some(key)
        })();
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn arguments(&mut self) -> Result<Vec<Ast>, ExprError> {
        self.items("(", ")")
    }

    fn items(&mut self, open: &str, close: &str) -> Result<Vec<Ast>, ExprError> {
        self.expect(open)?;
        let mut items = Vec::new();
        loop {
            self.space();
            if self.eat(close) {
                return Ok(items);
            }
            items.push(self.expression()?);
            self.space();
            if !self.rest().starts_with(close) {
                self.expect(",")?;
            }
        }
    }

    fn call(&self, name: &str, arguments: Vec<Ast>) -> Result<Ast, ExprError> {
        let function = Function::named(name).ok_or_else(|| self.error(format!("there is no function `{name}`")))?;
        let takes = function.takes();
        if takes.contains(&arguments.len()) {
            return Ok(Ast::Call(function, arguments));
        }
        let (least, most) = takes.into_inner();
        let takes = if least == most { least.to_string() } else { format!("{least} to {most}") };
        Err(self.error(format!("`{name}` takes {takes} values, not {}", arguments.len())))
    }

    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_word_char(c)).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn digits(&mut self) -> &'a str {
        let rest = self.rest();
        let digits = &rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())];
        self.at += digits.len();
        digits
    }

    fn number(&mut self) -> Result<Ast, ExprError> {
        let start = self.at;
        self.digits();
        if self.rest().strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            self.at += 1;
            self.digits();
        }
        if self.rest().starts_with(['e', 'E']) {
            self.at += 1;
            let _sign = self.eat("-") || self.eat("+");
            self.digits();
        }
        let text = &self.text[start..self.at];
        let number = text
            .parse::<u64>()
            .ok()
            .map(Number::from)
            .or_else(|| text.parse().ok().and_then(Number::from_f64))
            .filter(|_| !self.rest().starts_with(is_word_char));
        match number {
            Some(number) => Ok(Ast::Literal(Value::Number(number))),
            None => {
                self.at = start;
                Err(self.error("expected a number"))
            }
        }
    }

    fn quoted(&mut self) -> Result<String, ExprError> {
        let start = self.at;
        let mut chars = self.rest().char_indices();
        let quote = chars.next().map(|(_, c)| c);
        let mut text = String::new();
        while let Some((i, c)) = chars.next() {
            match c {
                c if Some(c) == quote => {
                    self.at = start + i + c.len_utf8();
                    return Ok(text);
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some(c @ ('\\' | '"' | '\'' | '/')) => text.push(c),
                    _ => return Err(self.error("a text holds an unknown escape")),
                },
                c => text.push(c),
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
