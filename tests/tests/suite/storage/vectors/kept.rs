//! Vectors that are kept: those of unchanged pages; and what counts as little content apart from them.

use cicerone_domain::ports::{
    PassageFeed as _, SourceStore as _, SourceVectors, UsageStore as _, VectorFeed as _, Wanted,
};

use super::super::crawling::{kept, page};
use super::super::fixture::{on_each, website};
use super::{SPACE, all_of, claimed, complete, vectors, version};

#[tokio::test]
async fn the_pages_that_a_refresh_leaves_unchanged_keep_their_vectors_in_the_meantime() {
    on_each(async |world| {
        let agent = world.agent().await;
        let source = world.crawled(&agent, &["/", "/a"]).await;
        complete(world, SPACE).await;
        assert_eq!(vectors(world, &agent, SPACE).await.sources, [all_of(&source)]);
        let refresh = world.refresh(&source).await;
        let unchanged = refresh.known.iter().find(|page| page.url.ends_with("/a")).unwrap();
        world.record(&refresh, vec![kept(unchanged), page("/", "Another text.")]).await;
        let source = world.end(&refresh).await;
        let now = SourceVectors { is_complete: false, ..all_of(&source) };
        assert_eq!(vectors(world, &agent, SPACE).await.sources, [now]);
        let rows = world.storage.vectors(source.id, version(&source), SPACE, None).await.unwrap();
        let lacking = claimed(world, SPACE, 10).await;
        let (rows, lacking) = (rows.unwrap().len(), lacking.passages.len());
        assert_eq!((rows, lacking), (2, 2), "those of the changed page are made again");
    })
    .await;
}

#[tokio::test]
async fn vectors_count_among_the_bytes_of_the_account_and_not_of_the_content() {
    on_each(async |world| {
        let agent = world.agent().await;
        world.trained(&agent, website(false), "one").await;
        let bytes = world.storage.kept_bytes(world.account).await.unwrap();
        let is_small = async |bytes: u64| {
            let wanted = Wanted { bytes, least: 0, known: None };
            world.storage.whole_content(agent.id, wanted).await.unwrap().is_some()
        };
        assert!(is_small(bytes).await && !is_small(bytes - 1).await);
        complete(world, SPACE).await;
        assert_eq!(world.storage.kept_bytes(world.account).await.unwrap(), bytes + 2 * 3 * 4);
        assert!(is_small(bytes).await && !is_small(bytes - 1).await);
        // Deleting another source with vectors leaves both numbers right.
        let source = world.trained(&agent, website(false), "two").await;
        complete(world, SPACE).await;
        let (scope, now) = (world.scope(), world.now());
        world.storage.delete_source(&scope, source.id, now, None).await.unwrap();
        assert!(is_small(bytes).await);
        assert_eq!(world.storage.kept_bytes(world.account).await.unwrap(), bytes + 2 * 3 * 4);
    })
    .await;
}
