//! A small trader's tables: orders, customers, products, staff, price lists, settings.

use super::pick;
use std::fmt::Write as _;

const REGIONS: [&str; 7] = ["North", "South", "East", "North", "West", "East", "South"];
const CUSTOMERS: [&str; 9] =
    ["Alder GmbH", "Birch Ltd", "Cedar Inc", "Dogwood SA", "Elm & Sons", "Fir Co", "Ginkgo KK", "Holly BV", "Alder GmbH"];
/// Name, price in cents. One name holds the name of a region.
const PRODUCTS: [(&str, u32); 6] =
    [("Desk", 24_900), ("Lamp", 3_950), ("Chair", 8_925), ("Northern Lamp", 5_200), ("Shelf", 12_075), ("Pen", 150)];
const STATUS: [&str; 10] = ["paid", "paid", "open", "paid", "cancelled", "paid", "refunded", "paid", "open", "unpaid"];

/// 48 orders, not sorted by date, two of them without a region; no newline at the end.
fn orders() -> String {
    let mut text = "order_id,date,region,customer,product,quantity,revenue,status".to_owned();
    for index in 0..48 {
        let (product, cents) = PRODUCTS[(index * 5 % 6) ^ usize::from(index % 4 == 3)];
        let quantity = 1 + index * 7 % 9;
        let cents = cents as usize * quantity;
        let region = if index == 17 || index == 30 { "" } else { pick(&REGIONS, index * 3) };
        let (customer, status) = (pick(&CUSTOMERS, index * 4), pick(&STATUS, index * 3 + index / 10));
        let (month, day) = (1 + index / 16, 1 + index * 11 % 28);
        let money = format!("{}.{:02}", cents / 100, cents % 100);
        write!(text, "\n{},2024-{month:02}-{day:02},{region},{customer},{product},{quantity},{money},{status}", 1001 + index).unwrap();
    }
    text
}

/// Codes begin with zeros; a name holds a comma only in `staff.csv`.
const CUSTOMER_TABLE: &str = "code\tname\tcity\tcountry\tsince\tnewsletter
00417\tAlder GmbH\tBerlin\tGermany\t2019-05-02\tyes
00032\tBirch Ltd\tLeeds\tUK\t2021-11-30\tno
01205\tCedar Inc\tAustin\tUSA\t2018-01-15\tyes
00981\tDogwood SA\tLyon\tFrance\t2022-07-08\tno
00077\tElm & Sons\tLondon\tUK\t2017-03-21\tyes
02300\tFir Co\tBoston\tUSA\t2023-02-01\tno
00550\tGinkgo KK\tOsaka\tJapan\t2020-09-12\tno
00018\tHolly BV\tUtrecht\tNetherlands\t2023-10-05\tyes
00764\tIvy AG\tBerlin\tGermany\t2021-06-17\tno
";

const PRODUCT_LIST: &str = r#"[
  {"sku": "D-100", "name": "Desk", "category": "furniture", "price": 249.0, "stock": 14, "discontinued": false, "tags": ["wood", "office"]},
  {"sku": "L-200", "name": "Lamp", "category": "lighting", "price": 39.5, "stock": 0, "discontinued": false, "tags": ["led"]},
  {"sku": "C-300", "name": "Chair", "category": "furniture", "price": 89.25, "stock": 52, "discontinued": false, "tags": ["office"]},
  {"sku": "L-210", "name": "Northern Lamp", "category": "lighting", "price": 52.0, "stock": 7, "discontinued": true, "tags": []},
  {"sku": "S-400", "name": "Shelf", "category": "furniture", "price": 120.75, "stock": 3, "discontinued": false, "tags": ["wood"]},
  {"sku": "P-500", "name": "Pen", "category": "stationery", "price": 1.5, "stock": 930, "discontinued": false, "tags": ["office", "blue"]},
  {"sku": "P-510", "name": "Marker", "category": "stationery", "price": 2.25, "stock": 0, "discontinued": true, "tags": []}
]
"#;

/// One salary is empty, one name is quoted, a blank line closes the file.
const STAFF: &str = "name,department,salary,start_date,city
\"Okafor, Ada\",Sales,52000,2019-04-01,Berlin
Ben Ruiz,Engineering,68000,2021-09-15,Lyon
Chloe Martin,Engineering,71500,2018-02-12,Berlin
Deniz Kaya,Support,39000,2022-06-01,Leeds
Eva Lindt,Sales,47500,2020-10-19,Leeds
Farid Aziz,Engineering,,2024-01-08,Lyon
Gina Rossi,Support,41000,2017-11-27,Berlin
Hugo Blanc,Finance,60000,2016-05-30,Lyon
Ines Costa,Sales,49000,2023-03-06,Berlin
Jonas Weber,Engineering,64000,2022-12-12,Berlin

";

/// Three rows occur twice; two addresses differ in case only; no newline at the end.
const SIGNUPS: &str = "email,source,date
ann@example.com,web,2024-02-01
bob@example.com,fair,2024-02-01
cem@example.org,web,2024-02-02
Ann@example.com,phone,2024-02-02
dora@example.net,web,2024-02-03
bob@example.com,fair,2024-02-01
eli@example.com,friend,2024-02-04
fay@example.org,web,2024-02-04
cem@example.org,web,2024-02-02
gus@example.com,fair,2024-02-05
hal@example.net,web,2024-02-06
eli@example.com,web,2024-02-07
DORA@example.net,fair,2024-02-08
ida@example.com,web,2024-02-08
gus@example.com,fair,2024-02-05
jon@example.com,phone,2024-02-09";

const SCORES: &str = "player,team,score,minutes
Nia,Reds,88,31
Omar,Blues,92,28
Pia,Reds,88,35
Quin,Greens,75,30
Rosa,Blues,101,40
Sam,Greens,9,12
Tess,Reds,64,22
Uma,Greens,110,38
Vic,Blues,75,27
Wes,Reds,100,39
";

const TEMPERATURES: &str = "city\tmonth\tlow\thigh
Oslo\tJan\t-7.5\t-1.0
Oslo\tJul\t12.0\t21.5
Rome\tJan\t3.0\t12.0
Rome\tJul\t18.5\t31.0
Cairo\tJan\t9.5\t19.0
Cairo\tJul\t22.0\t35.5
Lima\tJan\t19.0\t26.5
Lima\tJul\t15.0\t19.0
";

const PRICES_OLD: &str = "sku,name,price
D-100,Desk,239.00
L-200,Lamp,39.50
C-300,Chair,85.00
S-400,Shelf,120.75
P-500,Pen,1.20
";

const PRICES_NEW: &str = "sku,name,price
D-100,Desk,249.00
L-200,Lamp,39.50
C-300,Chair,89.25
L-210,Northern Lamp,52.00
P-500,Pen,1.50
";

const SETTINGS: &str = r#"{
  "shop": {"name": "Timber & Light", "currency": "EUR", "vat": 0.19},
  "mail": {"host": "mail.example.com", "port": 587, "from": "shop@example.com"},
  "shipping": {"free_from": 150, "carriers": ["DHL", "UPS", "GLS"]},
  "debug": false
}
"#;

const STORE_YAML: &str = "store:
  name: Timber & Light
  open: true
  hours:
    weekdays: 09:00-18:00
    saturday: 10:00-14:00
payment:
  methods:
    - card
    - invoice
    - paypal
  limit: 2500
languages: [de, en, fr]
";

pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("orders.csv", orders()),
        ("customers.tsv", CUSTOMER_TABLE.into()),
        ("products.json", PRODUCT_LIST.into()),
        ("staff.csv", STAFF.into()),
        ("signups.csv", SIGNUPS.into()),
        ("scores.csv", SCORES.into()),
        ("temperatures.tsv", TEMPERATURES.into()),
        ("prices/2023.csv", PRICES_OLD.into()),
        ("prices/2024.csv", PRICES_NEW.into()),
        ("prices/2024 copy.csv", PRICES_NEW.into()),
        ("settings.json", SETTINGS.into()),
        ("store.yaml", STORE_YAML.into()),
        ("import/broken.json", "{\"rows\": [1, 2, 3,], \"done\": true}\n".into()),
        ("import/empty.json", String::new()),
        ("import/stock.json", "{\"D-100\": 14, \"L-200\": 0, \"C-300\": 52}\n".into()),
        ("import/broken.yaml", "name: depot\nshelves: [a, b\nrows: 4\n".into()),
        ("import/depot.yml", "name: depot\nshelves: [a, b]\nrows: 4\n".into()),
        ("import/ragged.csv", "id,city,zip\n1,Leeds,LS1\n2,Lyon\n3,Berlin,10115\n4,Oslo,0150,NO\n".into()),
        ("import/feed.jsonl", "{\"id\": 1}\n{\"id\": 2}\n{\"id\": 3,\n{\"id\": 4}\n".into()),
        (
            "Quarterly Report.md",
            "# Quarterly Report\n\n## Revenue\n\nUp in the North.\n\n## Costs\n\nFlat.\n\n### Freight\n\nDown.\n\n## Outlook\n\nSteady.\n"
                .into(),
        ),
        ("Meeting notes/March 4.txt", "Attending: Ada, Gina, Hugo\n\nPrices go up in May.\nAda asks the carriers for offers.\n".into()),
        (".cache.csv", "order_id,region\n1,North\n2,North\n".into()),
    ]
}
