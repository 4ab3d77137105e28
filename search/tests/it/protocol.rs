//! What one process asks another is what the other reads.

use query::{AccessTier, QueryDialect, QueryProduct, parse};
use search::protocol::{IndexQuestion, read_message};
use search::{QueryPlan, SearchLookups, SearchWindow};

#[test]
fn question_with_the_deepest_query_is_read_as_it_was_asked() {
    let levels = 127;
    let text: String = (0..levels).map(|level| if level % 2 == 0 { "(cat OR " } else { "(dog " }).collect();
    let text = text + "bird" + &")".repeat(levels);
    let query = parse(&text, QueryDialect::new(QueryProduct::FullArchive, AccessTier::Enterprise)).unwrap();
    let plan = QueryPlan::new(&query, &SearchLookups::default());
    let asked = serde_json::to_string(&IndexQuestion::CountHits { plan: &plan, window: SearchWindow::ALL }).unwrap();
    let read: IndexQuestion<QueryPlan> = read_message(asked.as_bytes()).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), asked);
}
