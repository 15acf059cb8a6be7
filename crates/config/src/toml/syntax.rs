//! A TOML text as its statements, every part with its bytes. Comments and blank lines are what lies between.

use toml_parser::{
    ErrorSink, Expected, ParseError, Source,
    decoder::{Encoding, ScalarKind},
    parser::{Event, EventKind, EventReceiver, RecursionGuard, ValidateWhitespace, parse_document},
};

use std::borrow::Cow;

use super::MAX_DEPTH;
use crate::node::{Span, SyntaxError, Value};

/// The statements of a text in their order.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) statements: Vec<Statement>,
}

/// A header or a key with its value: each stands on lines of its own.
#[derive(Debug)]
pub(crate) enum Statement {
    /// `[a.b]` or `[[a.b]]`
    Header(Header),
    /// `a.b = value`
    Pair(Pair),
}

/// A table's header.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) span: Span,
    /// Whether it has double brackets.
    pub(crate) array: bool,
    pub(crate) path: Path,
}

/// A key, dotted or not, and its value.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) path: Path,
    pub(crate) value: Tree,
}

/// One part of a key, as it is spelled.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) span: Span,
    encoding: Option<Encoding>,
}

/// A value.
#[derive(Debug)]
pub(crate) struct Tree {
    pub(crate) span: Span,
    pub(crate) kind: Kind,
}

/// What kind of value it is.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Anything without parts, in these quotes if any.
    Scalar(Option<Encoding>),
    /// `[…]`
    Array(List<Tree>),
    /// `{…}`
    Table(List<Pair>),
}

/// The parts of a bracketed value.
pub(crate) type List<T> = Vec<Item<T>>;

/// A part of a bracketed value.
#[derive(Debug)]
pub(crate) struct Item<T> {
    pub(crate) part: T,
    /// Where its comma stands, if it has one.
    pub(crate) comma: Option<usize>,
}

/// Something that has bytes.
pub(crate) trait Spanned {
    fn span(&self) -> Span;
}

impl Spanned for Tree {
    fn span(&self) -> Span {
        self.span.clone()
    }
}

impl Spanned for Pair {
    fn span(&self) -> Span {
        self.path.first().map_or(self.value.span.start, |key| key.span.start)..self.value.span.end
    }
}

impl Spanned for Statement {
    fn span(&self) -> Span {
        match self {
            Self::Header(header) => header.span.clone(),
            Self::Pair(pair) => pair.span(),
        }
    }
}

/// The parts of a key. Most have one, and a file has thousands.
#[derive(Debug)]
pub(crate) enum Path {
    One(Part),
    Many(Vec<Part>),
}

impl Path {
    /// Takes the parts that were read.
    fn take(parts: &mut Vec<Part>) -> Self {
        match parts.pop() {
            Some(only) if parts.is_empty() => Self::One(only),
            last => {
                parts.extend(last);
                Self::Many(std::mem::take(parts))
            }
        }
    }
}

impl std::ops::Deref for Path {
    type Target = [Part];

    fn deref(&self) -> &[Part] {
        match self {
            Self::One(part) => std::slice::from_ref(part),
            Self::Many(parts) => parts,
        }
    }
}

impl Part {
    /// The key without quotes and escapes. What is wrong with them goes to `errors`.
    pub(crate) fn decode<'t>(&self, text: &'t str, errors: &mut dyn ErrorSink) -> Cow<'t, str> {
        let spelled = text.get(self.span.clone()).unwrap_or("");
        let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if self.encoding.is_none() && !spelled.is_empty() && spelled.bytes().all(bare) {
            return Cow::Borrowed(spelled);
        }
        let mut name = Cow::Borrowed("");
        if let Some(raw) = raw(text, EventKind::SimpleKey, self.encoding, &self.span) {
            raw.decode_key(&mut name, errors);
        }
        name
    }

    /// Whether it is this key. For texts that were read without an error.
    pub(crate) fn is(&self, text: &str, name: &str) -> bool {
        match self.encoding {
            None => text[self.span.clone()] == *name,
            Some(_) => self.decode(text, &mut ()) == name,
        }
    }
}

/// Whether a key has exactly these parts.
pub(crate) fn is_path(path: &[Part], text: &str, names: &[&str]) -> bool {
    path.len() == names.len() && begins(path, text, names)
}

/// Whether a key begins with these parts, or they with it.
pub(crate) fn begins(path: &[Part], text: &str, names: &[&str]) -> bool {
    path.iter().zip(names).all(|(part, name)| part.is(text, name))
}

fn raw<'t>(
    text: &'t str,
    kind: EventKind,
    encoding: Option<Encoding>,
    span: &Span,
) -> Option<toml_parser::Raw<'t>> {
    let span = toml_parser::Span::new_unchecked(span.start, span.end);
    Source::new(text).get(Event::new_unchecked(kind, encoding, span))
}

/// The inside of a string on one line without escapes: nearly every string, and the parser's own way is slow.
fn plain_string<'t>(text: &'t str, encoding: Option<Encoding>, span: &Span) -> Option<&'t str> {
    let quote = match encoding? {
        Encoding::BasicString => '"',
        Encoding::LiteralString => '\'',
        Encoding::MlBasicString | Encoding::MlLiteralString => return None,
    };
    let inside = text.get(span.clone())?.strip_prefix(quote)?.strip_suffix(quote)?;
    let plain = |byte: u8| byte >= b' ' && byte != b'\\' && byte != b'"' && byte != b'\'' && byte != 0x7f;
    inside.bytes().all(plain).then_some(inside)
}

/// The value of a scalar. What is wrong with it goes to `errors`.
pub(crate) fn scalar(
    text: &str,
    encoding: Option<Encoding>,
    span: &Span,
    errors: &mut dyn ErrorSink,
) -> Value {
    if let Some(text) = plain_string(text, encoding, span) {
        return Value::String(text.to_owned());
    }
    let at = toml_parser::Span::new_unchecked(span.start, span.end);
    let mut decoded = Cow::Borrowed("");
    let Some(raw) = raw(text, EventKind::Scalar, encoding, span) else { return Value::Null };
    match raw.decode_scalar(&mut decoded, errors) {
        ScalarKind::String => Value::String(decoded.into_owned()),
        ScalarKind::Boolean(value) => Value::Bool(value),
        ScalarKind::Integer(radix) => match i64::from_str_radix(&decoded, radix.value()) {
            Ok(value) => Value::Integer(value),
            Err(_) => {
                errors.report_error(
                    ParseError::new("a whole number must fit into 64 bits").with_unexpected(at),
                );
                Value::Null
            }
        },
        ScalarKind::Float => Value::Number(raw.as_str().to_owned()),
        ScalarKind::DateTime => {
            if let Err(wrong) = decoded.parse::<toml_datetime::Datetime>() {
                errors.report_error(ParseError::new(wrong.to_string()).with_unexpected(at));
            }
            Value::Datetime(raw.as_str().to_owned())
        }
    }
}

impl Document {
    /// Takes a text apart.
    ///
    /// # Errors
    /// What is wrong first, and where.
    pub(crate) fn parse(text: &str) -> Result<Self, SyntaxError> {
        let source = Source::new(text);
        let tokens = source.lex().into_vec();
        let mut builder = Builder { statements: Vec::with_capacity(tokens.len() / 8), ..Builder::default() };
        let mut first: Option<ParseError> = None;
        {
            let mut validated = ValidateWhitespace::new(&mut builder, source);
            let mut guarded = RecursionGuard::new(&mut validated, MAX_DEPTH);
            parse_document(&tokens, &mut guarded, &mut first);
        }
        builder.stray.append(&mut builder.keys);
        builder.stray.extend(builder.pending.iter().flat_map(|path| path.iter().cloned()));
        for part in &builder.stray {
            part.decode(text, &mut first);
        }
        match first {
            Some(error) => Err(explain(&error)),
            None => Ok(Self { statements: builder.statements }),
        }
    }
}

/// A parser's complaint in one sentence.
pub(super) fn explain(error: &ParseError) -> SyntaxError {
    let mut reason = error.description().to_owned();
    let expected: Vec<_> = error.expected().unwrap_or_default().iter().map(name_expected).collect();
    if !expected.is_empty() {
        reason.push_str(", expected ");
        reason.push_str(&expected.join(", "));
    }
    let span = error.unexpected().or(error.context());
    SyntaxError { reason, offset: span.map_or(0, |span| span.start()) }
}

fn name_expected(expected: &Expected) -> String {
    match expected {
        Expected::Literal("\n") => "a new line".into(),
        Expected::Literal(text) => format!("`{}`", text.escape_debug()),
        Expected::Description(text) => (*text).into(),
        _ => "something else".into(),
    }
}

/// An open bracket with what it holds so far.
enum Frame {
    Array(usize, List<Tree>),
    Table(usize, List<Pair>),
}

#[derive(Default)]
struct Builder {
    statements: Vec<Statement>,
    frames: Vec<Frame>,
    /// Parts of the key that is being read.
    keys: Vec<Part>,
    /// Keys whose values are being read, outermost first.
    pending: Vec<Path>,
    /// Parts of keys that came to nothing; what is wrong with them is the only sign of it.
    stray: Vec<Part>,
    header: Option<(usize, bool)>,
}

impl Builder {
    fn finish(&mut self, value: Tree) {
        match self.frames.last_mut() {
            Some(Frame::Array(_, items)) => items.push(Item { part: value, comma: None }),
            Some(Frame::Table(_, pairs)) => {
                let path = self.pending.pop().unwrap_or(Path::Many(Vec::new()));
                pairs.push(Item { part: Pair { path, value }, comma: None });
            }
            None => {
                let path = self.pending.pop().unwrap_or(Path::Many(Vec::new()));
                self.statements.push(Statement::Pair(Pair { path, value }));
            }
        }
    }

    fn open_header(&mut self, start: usize, array: bool) {
        self.stray.append(&mut self.keys);
        self.header = Some((start, array));
    }

    fn close_header(&mut self, end: usize) {
        if let Some((start, array)) = self.header.take() {
            let path = Path::take(&mut self.keys);
            self.statements.push(Statement::Header(Header { span: start..end, array, path }));
        }
    }
}

type At = toml_parser::Span;

impl EventReceiver for Builder {
    fn std_table_open(&mut self, span: At, _: &mut dyn ErrorSink) {
        self.open_header(span.start(), false);
    }

    fn std_table_close(&mut self, span: At, _: &mut dyn ErrorSink) {
        self.close_header(span.end());
    }

    fn array_table_open(&mut self, span: At, _: &mut dyn ErrorSink) {
        self.open_header(span.start(), true);
    }

    fn array_table_close(&mut self, span: At, _: &mut dyn ErrorSink) {
        self.close_header(span.end());
    }

    fn inline_table_open(&mut self, span: At, _: &mut dyn ErrorSink) -> bool {
        self.frames.push(Frame::Table(span.start(), Vec::new()));
        true
    }

    fn inline_table_close(&mut self, span: At, _: &mut dyn ErrorSink) {
        if let Some(Frame::Table(start, pairs)) = self.frames.pop() {
            self.finish(Tree { span: start..span.end(), kind: Kind::Table(pairs) });
        }
    }

    fn array_open(&mut self, span: At, _: &mut dyn ErrorSink) -> bool {
        self.frames.push(Frame::Array(span.start(), Vec::new()));
        true
    }

    fn array_close(&mut self, span: At, _: &mut dyn ErrorSink) {
        if let Some(Frame::Array(start, items)) = self.frames.pop() {
            self.finish(Tree { span: start..span.end(), kind: Kind::Array(items) });
        }
    }

    fn simple_key(&mut self, span: At, encoding: Option<Encoding>, error: &mut dyn ErrorSink) {
        if self.keys.len() >= MAX_DEPTH as usize {
            error.report_error(ParseError::new("the key has too many parts").with_unexpected(span));
            return;
        }
        self.keys.push(Part { span: span.start()..span.end(), encoding });
    }

    fn key_val_sep(&mut self, _: At, _: &mut dyn ErrorSink) {
        let path = Path::take(&mut self.keys);
        self.pending.push(path);
    }

    fn scalar(&mut self, span: At, encoding: Option<Encoding>, _: &mut dyn ErrorSink) {
        self.finish(Tree { span: span.start()..span.end(), kind: Kind::Scalar(encoding) });
    }

    fn value_sep(&mut self, span: At, _: &mut dyn ErrorSink) {
        let comma = match self.frames.last_mut() {
            Some(Frame::Array(_, items)) => items.last_mut().map(|item| &mut item.comma),
            Some(Frame::Table(_, pairs)) => pairs.last_mut().map(|pair| &mut pair.comma),
            None => None,
        };
        if let Some(comma) = comma {
            *comma = Some(span.start());
        }
    }
}
