//! Frames of the console: the time to draw one whole, the time and the bytes of one streamed word, at two sizes of plan. What a frame
//! costs must not grow with the plan: only the rows in sight are drawn.

use std::{
    cell::RefCell,
    hint::black_box,
    io::{self, Write},
    rc::Rc,
};

use dagdeck::{
    console::{
        model::{Key, Keymap, Look, Model},
        theme::Theme,
        update::{Msg, update},
        view,
    },
    engine::{Actor, Command, Effect, Input, Record, Run, RunId, RunSettings, Time, WorkerFact},
    host::client::{Driver, MadePlan, Notice, PlanningId},
    plan::{CodeNode, Node, NodeId, NodeKind, Plan, SandboxLimits},
};
use divan::{Bencher, counter::BytesCount};
use ratatui::{Terminal, TerminalOptions, Viewport, backend::CrosstermBackend, layout::Rect};

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 50)];
const NODES: [usize; 2] = [100, 10_000];

fn main() -> io::Result<()> {
    crossterm::style::force_color_output(true);
    for nodes in NODES {
        for (width, height) in SIZES {
            let mut screen = Screen::running(nodes, width, height);
            let whole = screen.frame();
            screen.word("once");
            screen.frame();
            screen.word("upon");
            let word = screen.frame();
            writeln!(io::stdout(), "{nodes} nodes at {width}x{height}: first frame {whole} bytes, one streamed word {word} bytes")?;
        }
    }
    divan::main();
    Ok(())
}

/// A tree ten wide at each node.
fn plan(nodes: usize) -> Plan {
    let node = |at: usize| {
        let work = NodeKind::Code(CodeNode { code: "return Object.keys(deps).length;".to_owned(), sandbox: SandboxLimits::default() });
        let on = at.checked_sub(1).map(|before| NodeId::new(format!("n{}", before / 10)));
        Node { depends_on: on.into_iter().collect(), ..Node::new(format!("n{at}").as_str(), work) }
    };
    Plan { goal: "measure".to_owned(), nodes: (0..nodes).map(node).collect(), ..Plan::default() }
}

/// Bytes on their way to a terminal.
#[derive(Clone, Default)]
struct LastLine(Rc<RefCell<Vec<u8>>>);

impl Write for LastLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal that shows nothing yet.
fn blank(line: &LastLine, width: u16, height: u16) -> Terminal<CrosstermBackend<LastLine>> {
    let options = TerminalOptions { viewport: Viewport::Fixed(Rect::new(0, 0, width, height)) };
    let terminal = Terminal::with_options(CrosstermBackend::new(line.clone()), options);
    terminal.unwrap_or_else(|error| unreachable!("a fixed viewport asks no terminal: {error}"))
}

/// A console with a terminal behind it.
struct Screen {
    model: Model,
    terminal: Terminal<CrosstermBackend<LastLine>>,
    line: LastLine,
    now: Time,
    run: Run,
}

impl Screen {
    /// A plan in the editor.
    fn planned(nodes: usize, width: u16, height: u16) -> Self {
        let (theme, keymap) = (Theme::default(), Keymap::default());
        let look = Look::new(theme, "terminal", Vec::new(), keymap);
        let line = LastLine::default();
        let model = Model::new(look, (width, height));
        let mut screen = Self { model, terminal: blank(&line, width, height), line, now: Time(1_750_000_000_000), run: Run::default() };
        screen.model.request.field.set("measure");
        screen.key("enter");
        let made = Box::new(MadePlan { plan: plan(nodes), origin: "bench".into(), ..MadePlan::default() });
        let ready = Notice::PlanReady { id: PlanningId(1), made };
        screen.send(Msg::Notice(Box::new(ready)));
        screen
    }

    /// A run of it, with its first node at work.
    fn running(nodes: usize, width: u16, height: u16) -> Self {
        let mut screen = Self::planned(nodes, width, height);
        let by = Actor { who: "bench".into(), via: "bench".into() };
        let create = Input::Create {
            run: RunId("run".into()),
            plan: Box::new(plan(nodes)),
            settings: Box::new(RunSettings::default()),
            by: by.clone(),
        };
        let mut records = screen.run.step(&create, screen.now).records;
        let batch = screen.run.step(&Input::Command { command: Command::Start, by }, screen.now);
        assert!(batch.effects.iter().any(|effect| matches!(effect, Effect::Start { .. })), "the first node starts");
        records.extend(batch.records);
        screen.send(Msg::Notice(Box::new(Notice::RunOpened { run: RunId("run".into()), records, driver: Driver::Here })));
        screen
    }

    fn send(&mut self, msg: Msg) {
        black_box(update(&mut self.model, msg, self.now));
    }

    fn key(&mut self, name: &str) {
        if let Ok(key) = Key::parse(name) {
            self.send(Msg::Key(key));
        }
    }

    /// The first node says a word. Gives the events, for the console to take in.
    fn says(&mut self, word: &str) -> Vec<Record> {
        let fact = WorkerFact::Output(format!("{word} "));
        self.run.step(&Input::Work { node: NodeId::new("n0"), generation: 1, attempt: 1, fact }, self.now).records
    }

    fn word(&mut self, word: &str) {
        let records = self.says(word);
        assert!(!records.is_empty(), "the word is an event");
        self.send(Msg::Notice(Box::new(Notice::Events { run: RunId("run".into()), records })));
    }

    /// Draws a frame and gives its bytes.
    fn frame(&mut self) -> usize {
        self.line.0.borrow_mut().clear();
        let (model, now) = (&self.model, self.now);
        let drawn = self.terminal.draw(|frame| {
            black_box(view::draw(model, now, frame.buffer_mut()));
        });
        assert!(drawn.is_ok(), "memory takes all bytes");
        self.line.0.borrow().len()
    }

    /// Draws a frame of which nothing is on the terminal yet.
    fn whole(&mut self) -> usize {
        let (width, height) = self.model.place.size;
        self.terminal = blank(&self.line, width, height);
        self.frame()
    }
}

#[divan::bench(args = NODES)]
fn whole_frame_of_a_plan_at_200x50(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::planned(nodes, 200, 50);
    bencher.bench_local(|| screen.whole());
}

#[divan::bench(args = NODES)]
fn whole_frame_of_a_run_at_200x50(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::running(nodes, 200, 50);
    bencher.bench_local(|| screen.whole());
}

/// Changing dependencies in place marks every row.
#[divan::bench(args = NODES)]
fn dependencies_in_place_at_200x50(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::planned(nodes, 200, 50);
    screen.key("D");
    bencher.bench_local(|| screen.whole());
}

/// From a streamed word to the bytes that show it.
#[divan::bench(args = NODES)]
fn streamed_word_at_80x24(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::running(nodes, 80, 24);
    screen.frame();
    bencher.counter(BytesCount::of_str("word ")).bench_local(|| {
        screen.word("word");
        screen.frame()
    });
}

/// From a key to the row that it selects.
#[divan::bench(args = NODES)]
fn moving_down_at_80x24(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::planned(nodes, 80, 24);
    bencher.bench_local(|| {
        screen.key("j");
        screen.frame()
    });
}

/// From the key that folds the root, and unfolds it again, to the frame.
#[divan::bench(args = NODES)]
fn folding_at_80x24(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::planned(nodes, 80, 24);
    bencher.bench_local(|| {
        screen.key("space");
        screen.frame()
    });
}

/// From a letter in the search line to the rows that match.
#[divan::bench(args = NODES)]
fn searching_at_80x24(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::planned(nodes, 80, 24);
    screen.key("/");
    screen.key("n");
    bencher.bench_local(|| {
        screen.key("9");
        screen.frame();
        screen.key("backspace");
        screen.frame()
    });
}

/// A plan as boxes and lines; the layout is there.
#[divan::bench(args = NODES)]
fn whole_frame_of_a_graph_at_200x50(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::planned(nodes, 200, 50);
    screen.key("v");
    bencher.bench_local(|| screen.whole());
}

/// A run as boxes and lines.
#[divan::bench(args = NODES)]
fn whole_frame_of_a_runs_graph_at_200x50(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::running(nodes, 200, 50);
    screen.key("v");
    bencher.bench_local(|| screen.whole());
}

/// From a key to the box that it selects, among the ten thousand of the lowest layers.
#[divan::bench(args = NODES)]
fn moving_along_a_graph_at_80x24(bencher: Bencher, nodes: usize) {
    let mut screen = Screen::planned(nodes, 80, 24);
    screen.key("v");
    screen.key("G");
    bencher.bench_local(|| {
        screen.key("l");
        screen.frame()
    });
}

/// What changes when a plan does: the layout of all boxes and lines.
#[divan::bench(args = NODES)]
fn layout_of_a_graph(bencher: Bencher, nodes: usize) {
    let plan = plan(nodes);
    bencher.bench_local(|| dagdeck::plan::drawing::GraphDrawing::new(&plan, dagdeck::plan::drawing::BoxText::Titles, &|_| true).size());
}
