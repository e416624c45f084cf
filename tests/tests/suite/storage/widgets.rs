//! Widgets and what their visitors do.

use cicerone_domain::conversation::{Channel, ConversationFilter, NewRating, RatingValue};
use cicerone_domain::ports::{
    AgentStore as _, ConversationStore as _, DeliveryStore as _, Housekeeping as _,
    NewIdentitySecret, NewToken, WebhookStore as _, WidgetStore as _,
};
use cicerone_domain::usage::Day;
use cicerone_domain::webhook::EventName;
use cicerone_domain::widget::{
    GivenWidget, HandoffMessage, IdentityClaims, IdentitySecret, Lead, Visitor, VisitorScope,
    WidgetName, WidgetPatch, WidgetToken,
};
use cicerone_domain::{
    Agent, Conversation, Error, Id, Managed, Scope, SystemEntropy, Timestamp, Widget, kind,
};

use super::fixture::{World, all_pages, assert_conflict, assert_not_found, first, new_id, on_each};

fn secret() -> IdentitySecret {
    IdentitySecret::generate(&SystemEntropy)
}

/// A secret; those before it are accepted until `old_until`.
fn replacing(old_until: Timestamp) -> NewIdentitySecret {
    NewIdentitySecret { secret: secret(), old_until }
}

impl World {
    /// The id of a new widget of an agent.
    pub(super) async fn widget(&self, agent: &Agent) -> Id<kind::Widget> {
        add(self, agent).await.id
    }
}

fn new_widget(world: &World, agent: &Agent) -> Widget {
    let token = WidgetToken::generate(&SystemEntropy);
    let name = WidgetName::parse("Shop").unwrap();
    Widget::new(new_id(), (world.account, agent.id), name, token, world.now())
}

async fn add(world: &World, agent: &Agent) -> Widget {
    let widget = new_widget(world, agent);
    let stored = world.storage.insert_widget(&world.scope(), widget.clone(), secret(), None).await;
    assert_eq!(stored.unwrap().widget, widget);
    widget
}

fn patch(given: GivenWidget) -> WidgetPatch {
    WidgetPatch::parse(given).unwrap()
}

fn visitor(widget: &Widget) -> VisitorScope {
    let now = Timestamp::from_millis(0);
    let claims = IdentityClaims {
        sub: Some("u 1".to_owned()),
        exp: Some(60.0),
        name: Some("Ána".to_owned()),
        ..IdentityClaims::default()
    };
    let visitor = Visitor::identified(new_id(), claims.check(now).unwrap());
    VisitorScope {
        account_id: widget.account_id,
        agent_id: widget.agent_id,
        widget_id: widget.id,
        visitor,
    }
}

async fn talk(world: &World, agent: &Agent, scope: &VisitorScope) -> Conversation {
    let mut turn = world.first_turn(agent, &[]);
    turn.conversation.channel = Channel::Widget;
    turn.conversation.widget_id = Some(scope.widget_id);
    turn.conversation.visitor = Some(scope.visitor.clone());
    world.storage.append_turn(turn, None).await.unwrap().conversation
}

/// The payloads of the events that wait for an endpoint.
async fn payloads(world: &World, endpoint: Id<kind::WebhookEndpoint>) -> Vec<String> {
    let now = world.now();
    let until = now.plus_millis(1);
    let claimed = world.storage.claim_deliveries(endpoint, 9, 9, "token".into(), now, until).await;
    let mut payloads = Vec::new();
    for claimed in claimed.unwrap() {
        payloads.extend(world.storage.payload(claimed.event_id).await.unwrap());
    }
    payloads
}

#[tokio::test]
async fn a_widget_is_changed_and_deleted_within_its_scope() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let (agent, other) = (world.agent().await, world.agent().await);
        let widget = add(world, &agent).await;
        let change = patch(GivenWidget {
            origins: Some(vec!["https://*.Site.example".to_owned()]),
            greeting: Some(Some("Hi".to_owned())),
            is_active: Some(false),
            ..GivenWidget::default()
        });
        for outside in world.outside().await.into_iter().chain([world.only(&other)]) {
            assert_eq!(storage.find_widget(&outside, widget.id).await.unwrap(), None);
            let now = world.now();
            let changed = storage.update_widget(&outside, widget.id, change.clone(), now, None);
            assert_not_found(changed.await, "widget");
            assert_not_found(storage.delete_widget(&outside, widget.id, None).await, "widget");
            let new = NewToken { token: widget.token, old_until: now };
            assert_not_found(
                storage.rotate_token(&outside, widget.id, new, now, None).await,
                "widget",
            );
            let new = replacing(now);
            let rotated = storage.rotate_identity_secret(&outside, widget.id, new, now, None);
            assert_not_found(rotated.await, "widget");
            let added = storage.insert_widget(&outside, new_widget(world, &agent), secret(), None);
            assert_not_found(added.await, "agent");
            assert_not_found(
                storage.list_widgets(&outside, agent.id, None, first(5)).await,
                "agent",
            );
        }
        let now = world.now();
        let changed = storage.update_widget(&scope, widget.id, change, now, None).await.unwrap();
        assert_eq!(changed.origins.as_slice(), ["https://*.site.example"]);
        assert_eq!((changed.is_active, changed.updated_at), (false, now));
        let only = world.only(&agent);
        assert_eq!(storage.find_widget(&only, widget.id).await.unwrap(), Some(changed));
        storage.delete_widget(&only, widget.id, None).await.unwrap();
        assert_eq!(storage.find_widget(&scope, widget.id).await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn an_agent_has_a_bound_of_widgets_that_are_listed_newest_first() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let agent = world.agent().await;
        let mut added = Vec::new();
        for _ in 0..20 {
            added.insert(0, add(world, &agent).await);
        }
        let more = storage.insert_widget(&scope, new_widget(world, &agent), secret(), None).await;
        assert!(matches!(more, Err(Error::Validation { .. })));
        let listed = all_pages(7, |page| storage.list_widgets(&scope, agent.id, None, page)).await;
        assert_eq!(listed, added);
        add(world, &world.agent().await).await;
        storage.delete_agent(&scope, agent.id, world.now(), None).await.unwrap();
        assert_eq!(storage.find_widget(&scope, added[0].id).await.unwrap(), None);
        let open = storage.open_widget(&added[0].token, world.now()).await.unwrap();
        assert_eq!(open, None);
    })
    .await;
}

#[tokio::test]
async fn a_managed_identity_is_unique_within_the_agent() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let (agent, other) = (world.agent().await, world.agent().await);
        let managed = Managed::parse("s".into(), "k".into(), "0".repeat(64)).unwrap();
        let named =
            |agent: &Agent| Widget { managed: Some(managed.clone()), ..new_widget(world, agent) };
        let ours = named(&agent);
        storage.insert_widget(&scope, ours.clone(), secret(), None).await.unwrap();
        storage.insert_widget(&scope, named(&other), secret(), None).await.unwrap();
        assert_conflict(storage.insert_widget(&scope, named(&agent), secret(), None).await);
        let free = add(world, &agent).await;
        let change = || patch(GivenWidget::default()).managed_as(Some(Some(managed.clone())));
        assert_conflict(storage.update_widget(&scope, free.id, change(), world.now(), None).await);
        let set = Some(managed.set.clone());
        let listed = storage.list_widgets(&scope, agent.id, set, first(5)).await.unwrap();
        assert_eq!(listed.items, [ours]);
    })
    .await;
}

#[tokio::test]
async fn a_token_opens_its_widget_until_it_is_replaced_and_no_longer_kept() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let agent = world.agent().await;
        let widget = add(world, &agent).await;
        let now = world.now();
        let open = storage.open_widget(&widget.token, now).await.unwrap().unwrap();
        assert_eq!((open.title.as_str(), open.secrets.len()), ("Ciceróne ✓", 1));
        assert_eq!(open.widget, widget);

        let token = WidgetToken::generate(&SystemEntropy);
        let new = NewToken { token, old_until: now.plus_millis(5_000) };
        storage.rotate_token(&scope, widget.id, new, now, None).await.unwrap();
        let is_open = async |token: &WidgetToken, at: Timestamp| {
            storage.open_widget(token, at).await.unwrap().is_some()
        };
        assert!(is_open(&token, now).await);
        assert!(is_open(&widget.token, now.plus_millis(4_999)).await);
        assert!(!is_open(&widget.token, now.plus_millis(5_000)).await);
        let next = NewToken { token: WidgetToken::generate(&SystemEntropy), old_until: now };
        storage.rotate_token(&scope, widget.id, next, now, None).await.unwrap();
        assert!(!is_open(&token, now).await);
        assert!(!is_open(&widget.token, now).await);

        let later = now.plus_millis(24 * 60 * 60 * 1_000);
        let new = replacing(later);
        let issued = storage.rotate_identity_secret(&scope, widget.id, new, now, None).await;
        let open = storage.open_widget(&next.token, now).await.unwrap().unwrap();
        assert_eq!(open.secrets.len(), 2);
        assert_eq!(open.secrets[0], issued.unwrap().secret);
        let open = storage.open_widget(&next.token, later).await.unwrap().unwrap();
        assert_eq!(open.secrets.len(), 1);

        let off = patch(GivenWidget { is_active: Some(false), ..GivenWidget::default() });
        storage.update_widget(&scope, widget.id, off, now, None).await.unwrap();
        assert!(!is_open(&next.token, now).await);
    })
    .await;
}

#[tokio::test]
async fn messages_of_a_day_are_counted_up_to_the_bound_and_kept_for_a_week() {
    on_each(async |world| {
        let storage = &world.storage;
        let widget = add(world, &world.agent().await).await;
        let count = async |day, most| {
            let day = Day::from_number(day);
            storage.count_widget_message(widget.account_id, widget.id, day, most).await.unwrap()
        };
        assert!(count(10, 2).await && count(10, 2).await);
        assert!(!count(10, 2).await);
        assert!(count(10, 3).await && count(11, 2).await);
        assert_eq!(storage.expire_widget_days(Day::from_number(11)).await.unwrap(), 1);
        assert_eq!(storage.expire_widget_days(Day::from_number(11)).await.unwrap(), 0);
        assert!(count(10, 1).await && count(11, 2).await);
        storage.delete_widget(&world.scope(), widget.id, None).await.unwrap();
        let (account, day) = (widget.account_id, Day::from_number(11));
        let counted = storage.count_widget_message(account, widget.id, day, 9).await;
        assert_not_found(counted, "widget");
    })
    .await;
}

#[tokio::test]
async fn a_visitor_sees_nothing_but_the_own_conversations() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let agent = world.agent().await;
        let (widget, other) = (add(world, &agent).await, add(world, &agent).await);
        let (one, two) = (visitor(&widget), visitor(&widget));
        let first_one = talk(world, &agent, &one).await;
        let second = talk(world, &agent, &one).await;
        let foreign = [talk(world, &agent, &two).await, world.conversation(&agent, &[]).await];
        storage.append_turn(world.next_turn(&first_one, "And now?"), None).await.unwrap();

        let elsewhere = VisitorScope { widget_id: other.id, ..one.clone() };
        let listed = storage.visitor_conversations(&elsewhere, 20).await.unwrap();
        let ids: Vec<_> = listed.iter().map(|listed| listed.id).collect();
        assert_eq!(ids, [first_one.id, second.id]);
        assert_eq!((listed[0].messages, listed[0].title.as_str()), (4, "How many hills?"));
        assert_eq!(storage.visitor_conversations(&one, 1).await.unwrap().len(), 1);

        let read = storage.visitor_conversation(&one, first_one.id, 3, 1_000_000).await.unwrap();
        let numbers: Vec<_> = read.1.iter().map(|placed| placed.number()).collect();
        assert_eq!(numbers, [2, 3, 4]);
        let read = storage.visitor_conversation(&one, first_one.id, 100, 1).await.unwrap();
        assert_eq!(read.1.len(), 1);

        let as_visitor = Scope::of_visitor(one.clone());
        for foreign in foreign {
            let read = storage.visitor_conversation(&one, foreign.id, 9, 9).await;
            assert_not_found(read, "conversation");
            let asked =
                storage.request_handoff(&one, foreign.id, None, new_id(), world.now()).await;
            assert_not_found(asked, "conversation");
            let continued = storage.context(&as_visitor, agent.id, Some(foreign.id), 9).await;
            assert_not_found(continued, "conversation");
            let rating = NewRating { value: RatingValue::Up, comment: None };
            let rated =
                storage.rate_message(&as_visitor, foreign.id, 2, rating, new_id(), world.now());
            assert_not_found(rated.await, "conversation");
            let deleted = storage.delete_conversation(&as_visitor, foreign.id, world.now(), None);
            assert_not_found(deleted.await, "conversation");
        }
        storage.context(&as_visitor, agent.id, Some(second.id), 9).await.unwrap();

        let filter = || ConversationFilter { visitor: Some(one.visitor.id), ..Default::default() };
        let of_one =
            storage.list_conversations(&scope, agent.id, filter(), first(9)).await.unwrap();
        let ids: Vec<_> = of_one.items.iter().map(|found| found.id).collect();
        assert_eq!(ids, [second.id, first_one.id]);
        assert_eq!(of_one.items[0].visitor.as_ref(), Some(&one.visitor));
        assert_eq!(of_one.items[0].widget_id, Some(widget.id));
        storage.delete_widget(&scope, widget.id, None).await.unwrap();
        let of_one =
            storage.list_conversations(&scope, agent.id, filter(), first(9)).await.unwrap();
        assert_eq!((of_one.items.len(), of_one.items[0].widget_id), (2, None));
        storage.delete_conversation(&as_visitor, second.id, world.now(), None).await.unwrap();
        assert_eq!(storage.visitor_conversations(&one, 20).await.unwrap().len(), 1);
    })
    .await;
}

#[tokio::test]
async fn what_visitors_do_is_told_once_to_endpoints_that_receive_it() {
    on_each(async |world| {
        let (storage, scope) = (&world.storage, world.scope());
        let agent = world.agent().await;
        let widget = add(world, &agent).await;
        let one = visitor(&widget);
        let conversation = talk(world, &agent, &one).await;
        let unheard = talk(world, &agent, &one).await;
        storage.request_handoff(&one, unheard.id, None, new_id(), world.now()).await.unwrap();
        let endpoint = world.endpoint(&EventName::CHOICES).await.id;
        let told = async || {
            let page = storage.list_deliveries(world.account, endpoint, None, first(50)).await;
            let mut names: Vec<_> =
                page.unwrap().items.iter().map(|delivery| delivery.event.name()).collect();
            names.sort_unstable();
            names
        };
        let message = || HandoffMessage::parse("Please call").ok();
        let asked = world.now();
        storage.request_handoff(&one, conversation.id, message(), new_id(), asked).await.unwrap();
        let again = storage.request_handoff(&one, conversation.id, None, new_id(), world.now());
        again.await.unwrap();
        assert_eq!(told().await, ["conversation.handoff_requested"]);

        let lead = Lead::parse("a@b.example".into(), Some("Ána".into()), None, None).unwrap();
        for _ in 0..2 {
            let put = storage.put_lead(&one, conversation.id, lead.clone(), new_id(), world.now());
            put.await.unwrap();
        }
        assert_eq!(told().await.len(), 2);
        let rating = || NewRating { value: RatingValue::Down, comment: None };
        for _ in 0..2 {
            let rated =
                storage.rate_message(&scope, conversation.id, 2, rating(), new_id(), world.now());
            rated.await.unwrap();
        }
        assert_eq!(
            told().await,
            ["conversation.handoff_requested", "lead.captured", "message.rated"]
        );
        let (stored, _) =
            storage.find_conversation(&scope, conversation.id).await.unwrap().unwrap();
        assert_eq!((stored.handoff_requested_at, stored.lead), (Some(asked), Some(lead)));

        let waiting = payloads(world, endpoint).await;
        assert!(waiting.iter().any(|payload| payload.contains("Please call")));
        assert!(waiting.iter().any(|payload| payload.contains("How many hills?")));
        storage.delete_conversation(&scope, conversation.id, world.now(), None).await.unwrap();
        let waiting = payloads(world, endpoint).await;
        assert_eq!(waiting.len(), 3);
        for payload in waiting {
            for text in ["Please call", "How many hills?", "a@b.example", "Ána", "u 1"] {
                assert!(!payload.contains(text), "{payload}");
            }
        }
    })
    .await;
}
