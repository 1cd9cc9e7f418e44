//! Somebody's folder of notes, letters, pictures and invoices: names with spaces, nested folders, a hidden file.

const POEM: &str = "The lamp is lit, the door is wide,
a kettle hums, the cat's inside.

The road is long, the road is grey,
the lamp will burn till break of day.
The Lamp, the cat, the open door:
who needs, on such a night, one more?

Come in, come in, and leave the rain
to tap its fingers on the pane.
The kettle sings. The night is deep.
The cat has long since gone to sleep.
";

const TODO: &str = "call the plumber
buy stamps
[x] pay rent
renew passport
[x] water plants
call Mira
book train to Lyon
";

const SHOPPING: &str = "apples
milk
bread
apples
coffee

Milk
rice
coffee
apples
";

const CONTACTS: &str = "Name: Mira Vance
Phone: 555-0142
Mail: mira@example.com

Name: Tom Adler
Phone: 555-0177
Mail: tom.adler@example.org

Name: Uli Stern
Phone: 555-0108
";

pub fn files() -> Vec<(&'static str, String)> {
    let long = |name: &str, lines: usize| (1..=lines).map(|line| format!("{name} line {line}\n")).collect::<String>();
    vec![
        ("poem.txt", POEM.into()),
        ("todo.txt", TODO.into()),
        ("shopping list.txt", SHOPPING.into()),
        ("contacts.txt", CONTACTS.into()),
        ("notes/ideas.md", "# Ideas\n\n- a bench for the garden\n- paint the shed blue\n- learn to bake bread\n".into()),
        ("notes/travel.md", "# Travel\n\nLyon in May, Oslo in August.\nBudget: 1200 EUR\n".into()),
        ("notes/garden.txt", "plant beans\nplant kale\nwater daily\n".into()),
        ("notes/2023/diary.txt", long("diary", 40)),
        ("notes/2023/recipes.md", "# Recipes\n\n## Bread\n\nflour, water, salt\n\n## Soup\n\nbeans, kale, salt\n".into()),
        ("notes/2024/diary.txt", long("day", 25)),
        ("notes/2024/plans.md", "# Plans\n\nPaint the shed.\n".into()),
        ("letters/draft-bank.txt", "Dear Sir or Madam,\n\nplease close my account 4411.\n\nYours, Sam\n".into()),
        ("letters/draft-landlord.txt", "Dear Mr Stone,\n\nthe heating is broken.\n\nYours, Sam\n".into()),
        ("letters/final-bank.txt", "Dear Ms Frank,\n\nplease close my account 4411 by May.\n\nYours, Sam\n".into()),
        ("pictures/cat.jpg", "\u{1}cat".repeat(300)),
        ("pictures/garden.png", "\u{2}garden".repeat(90)),
        ("pictures/old shed.jpg", "\u{1}shed".repeat(50)),
        ("invoices/2023-11.txt", "Invoice 311\nTotal: 120.00\n".into()),
        ("invoices/2023-12.txt", "Invoice 312\nTotal: 80.50\n".into()),
        ("invoices/2024-01.txt", "Invoice 401\nTotal: 99.95\n".into()),
        ("invoices/2024-02.txt", "Invoice 402\nTotal: 210.00\n".into()),
        ("temp/a.tmp", "a\n".into()),
        ("temp/b.tmp", "bb\n".into()),
        ("temp/keep.txt", "keep me\n".into()),
        (".private.txt", "the key is under the mat\n".into()),
    ]
}
