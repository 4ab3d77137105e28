//! Lists, edges, likes and attachments as lines.

use archive::{
    ArchiveRecord, ArchivedAttachment, ArchivedLike, ArchivedList, ArchivedListMember, ArchivedMedia,
    ArchivedMediaKind, ArchivedVariant, UserRelation,
};
use base::id::snowflake_time;
use base::{Error, Time};
use serde_json::Value;
use store::exports::{self, IdPair};
use store::imports::EdgeKind;
use store::media::{self, Media};
use store::portable_tables::{self, CellValue, PortableTable};
use store::{Tx, lists};

use super::{ExportPage, PAGE_SIZE, build_page};
use crate::portable_rows;
use crate::reader::file_name;

pub(super) fn load_lists(tx: &mut Tx<'_>, after: i64) -> Result<ExportPage<i64>, Error> {
    let lists = lists::list(tx, after, PAGE_SIZE)?;
    let records = lists.iter().map(|list| {
        ArchiveRecord::List(ArchivedList {
            id: Some(list.id),
            owner: Some(list.owner_id.get()).filter(|owner| *owner != 0),
            name: list.name.clone(),
            description: list.description.clone(),
            private: list.private,
            ..ArchivedList::default()
        })
    });
    Ok(build_page(&lists, |list| list.id, records))
}

pub(super) fn load_list_members(tx: &mut Tx<'_>, after: IdPair) -> Result<ExportPage<IdPair>, Error> {
    let members = lists::list_all_members(tx, after, PAGE_SIZE)?;
    let records = members.iter().map(|((list, user), id)| {
        ArchiveRecord::ListMember(ArchivedListMember { list: *list, user: *user, id: Some(*id) })
    });
    Ok(build_page(&members, |(pair, _)| *pair, records))
}

pub(super) fn load_edges(tx: &mut Tx<'_>, kind: EdgeKind, after: IdPair) -> Result<ExportPage<IdPair>, Error> {
    let edges = exports::list_edges(tx, kind, after, PAGE_SIZE)?;
    let line = match kind {
        EdgeKind::Follow => ArchiveRecord::Follow,
        EdgeKind::Block => ArchiveRecord::Block,
        EdgeKind::Mute => ArchiveRecord::Mute,
        EdgeKind::Request => ArchiveRecord::FollowRequest,
        EdgeKind::DmBlock => ArchiveRecord::DmBlock,
    };
    let records =
        edges.iter().map(|((from, to), id)| line(UserRelation { from: Some(*from), to: Some(*to), id: Some(*id) }));
    Ok(build_page(&edges, |(pair, _)| *pair, records))
}

pub(super) fn load_likes(tx: &mut Tx<'_>, after: IdPair) -> Result<ExportPage<IdPair>, Error> {
    let likes = exports::list_likes(tx, after, PAGE_SIZE)?;
    let records = likes.iter().map(|like| {
        ArchiveRecord::Like(ArchivedLike {
            user: Some(like.user_id.get()),
            post: like.post_id.get(),
            text: like.text.clone(),
            at_ms: Some(snowflake_time(like.id).ms()),
        })
    });
    Ok(build_page(&likes, |like| (like.user_id.get(), like.post_id.get()), records))
}

pub(super) fn load_media(tx: &mut Tx<'_>, after: i64) -> Result<ExportPage<i64>, Error> {
    let media = media::list(tx, after, PAGE_SIZE)?;
    let records = media.iter().map(|medium| {
        ArchiveRecord::Media(ArchivedAttachment {
            post: None,
            owner: Some(medium.owner_id.get()).filter(|owner| *owner != 0),
            media: attachment_from_media(medium),
        })
    });
    Ok(build_page(&media, |medium| medium.id.get(), records))
}

pub(super) fn load_table_rows(
    tx: &mut Tx<'_>,
    table: &'static PortableTable,
    after: &[CellValue],
) -> Result<ExportPage<Vec<CellValue>>, Error> {
    let rows = portable_tables::page_after(tx, table, after, PAGE_SIZE)?;
    let records = rows.iter().map(|row| portable_rows::to_line(table, row));
    Ok(build_page(&rows, |row| table.row_key(row), records))
}

pub(super) fn attachment_from_media(medium: &Media) -> ArchivedMedia {
    let pixels = |number: i64| u32::try_from(number).unwrap_or(0);
    let kind = match medium.kind.as_str() {
        "video" => ArchivedMediaKind::Video,
        "animated_gif" => ArchivedMediaKind::AnimatedGif,
        "subtitles" => ArchivedMediaKind::Subtitles,
        _ => ArchivedMediaKind::Photo,
    };
    let url = if kind == ArchivedMediaKind::Photo { &medium.url } else { &medium.preview_image_url };
    ArchivedMedia {
        id: medium.id.get(),
        kind,
        files: Some(file_name(&medium.path).to_owned()).filter(|name| !name.is_empty()).into_iter().collect(),
        url: url.clone(),
        alt: Some(medium.alt_text.clone()).filter(|alt| !alt.is_empty()),
        width: pixels(medium.width),
        height: pixels(medium.height),
        duration_ms: Some(medium.duration_ms).filter(|ms| *ms > 0),
        variants: parse_variants(&medium.variants),
        content_type: medium.content_type.clone(),
        size: Some(medium.size).filter(|size| *size > 0),
        bit_rate: Some(medium.bit_rate).filter(|rate| *rate > 0),
        sizes: medium.sizes.clone(),
        uses: medium.uses,
        expires_at_ms: medium.expires_at.map(Time::ms),
        variant_files: medium.variant_files.clone(),
    }
}

fn parse_variants(json: &str) -> Vec<ArchivedVariant> {
    let all: Value = serde_json::from_str(json).unwrap_or_default();
    let all = all.as_array().into_iter().flatten();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let read = |variant: &Value| ArchivedVariant {
        url: variant.get("url").map(text).unwrap_or_default(),
        content_type: variant.get("content_type").map(text).unwrap_or_default(),
        bitrate: variant.get("bit_rate").and_then(Value::as_i64),
    };
    all.map(read).collect()
}
