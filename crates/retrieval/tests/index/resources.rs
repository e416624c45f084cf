//! The resources that the indexes of many agents take.

use cicerone_domain::ports::PassageIndex as _;
use cicerone_domain::retrieval::Query;
use cicerone_domain::{Id, kind};

use crate::feed::{World, passage};

fn agent(number: usize) -> Id<kind::Agent> {
    format!("agent_{number:010}").parse().unwrap()
}

fn threads() -> Option<usize> {
    std::fs::read_dir("/proc/self/task").ok().map(Iterator::count)
}

fn memory_maps(directory: &std::path::Path) -> Option<usize> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    Some(maps.lines().filter(|line| line.contains(directory.to_str().unwrap())).count())
}

#[tokio::test]
async fn a_thousand_agents_keep_no_more_open_than_the_bound() {
    let world = World::with_open_agents(8);
    let query = Query { text: "shared words".to_owned(), ..Query::default() };
    let mut after_some = None;
    for number in 0..1_000 {
        let text = format!("The shared words of agent number{number} stand here.");
        world.rows.put(agent(number), &format!("s{number}"), vec![passage(0, &text)]);
        let version = world.rows.version(agent(number));
        assert_eq!(world.index.search(version, &query, 5).await.unwrap().hits.len(), 1);
        if number == 100 {
            after_some = threads();
        }
    }
    assert!(world.index.open_agents() <= 8);
    if let (Some(before), Some(after)) = (after_some, threads()) {
        assert!(after <= before + 4, "{before} threads became {after}");
    }
    if let Some(maps) = memory_maps(world.directory.path()) {
        assert!(maps <= 8 * 10, "{maps} memory maps");
    }
    // A closed index answers as before.
    let found = world.index.search(world.rows.version(agent(3)), &query, 5).await.unwrap();
    assert!(found.hits[0].text.contains("number3 "));
}
