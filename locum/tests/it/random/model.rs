//! What the network ought to look like, in plain sets: who may see what, and what is counted.
//! Everything is named by its place in a list, so that two servers can be told the same.

use std::collections::{BTreeMap, BTreeSet};

/// A pair of people, or of a person and a thing.
pub(super) type Pairs = BTreeSet<(usize, usize)>;

/// What has become of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Active,
    Suspended,
    Deleted,
}

#[derive(Clone, Debug)]
pub(super) struct Human {
    pub(super) state: State,
    pub(super) protected: bool,
    /// May edit posts.
    pub(super) premium: bool,
}

/// What has become of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Life {
    Live,
    /// A newer version took its place.
    Old,
    Gone,
}

#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) author: usize,
    pub(super) life: Life,
    pub(super) reply_to: Option<usize>,
    pub(super) quote: Option<usize>,
    pub(super) repost_of: Option<usize>,
    /// The post that the conversation began with.
    pub(super) conversation: usize,
    /// Its first version.
    pub(super) first: usize,
    pub(super) edits: usize,
    pub(super) community: Option<usize>,
    /// Only those whom the author follows may reply in this conversation.
    pub(super) reserved: bool,
    /// Who voted for what, where it has a poll of two options.
    pub(super) poll: Option<BTreeMap<usize, usize>>,
}

#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) owner: usize,
    pub(super) private: bool,
    pub(super) gone: bool,
    pub(super) members: BTreeSet<usize>,
    pub(super) followers: BTreeSet<usize>,
    pub(super) pins: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Club {
    pub(super) owner: usize,
    pub(super) closed: bool,
    pub(super) members: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct Room {
    pub(super) creator: usize,
    pub(super) live: bool,
    pub(super) inside: BTreeSet<usize>,
}

/// Whether something may be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum See {
    Yes,
    /// It is there, but not for this viewer.
    Forbidden,
    /// It is not there.
    Missing,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) people: Vec<Human>,
    pub(super) notes: Vec<Note>,
    pub(super) lists: Vec<Listing>,
    pub(super) clubs: Vec<Club>,
    pub(super) rooms: Vec<Room>,
    pub(super) follows: Pairs,
    pub(super) requests: Pairs,
    pub(super) blocks: Pairs,
    pub(super) mutes: Pairs,
    /// A person and a post.
    pub(super) likes: Pairs,
    pub(super) bookmarks: Pairs,
}

/// Someone who looks; nobody where an app looks for itself.
pub(super) type Viewer = Option<usize>;

impl Model {
    pub(super) fn is_active(&self, user: usize) -> bool {
        self.people[user].state == State::Active
    }

    /// Whether an author's open posts may be seen.
    pub(super) fn reads(&self, viewer: Viewer, author: usize) -> See {
        let human = &self.people[author];
        match human.state {
            State::Deleted => return See::Missing,
            State::Suspended => return See::Forbidden,
            State::Active => {}
        }
        let Some(viewer) = viewer else {
            return if human.protected { See::Forbidden } else { See::Yes };
        };
        let kept_out =
            self.blocks.contains(&(author, viewer)) || human.protected && !self.follows.contains(&(viewer, author));
        if viewer != author && kept_out {
            return See::Forbidden;
        }
        See::Yes
    }

    /// Whether a post itself may be seen; of a repost, whether its author's act may.
    pub(super) fn sees(&self, viewer: Viewer, note: usize) -> See {
        let note = &self.notes[note];
        if note.life == Life::Gone {
            return See::Missing;
        }
        match self.reads(viewer, note.author) {
            See::Yes => {}
            hidden => return hidden,
        }
        let closed = note.community.filter(|club| self.clubs[*club].closed);
        match (closed, viewer) {
            (None, _) => See::Yes,
            (Some(_), Some(viewer)) if viewer == note.author => See::Yes,
            (Some(club), Some(viewer)) if self.clubs[club].members.contains(&viewer) => See::Yes,
            _ => See::Forbidden,
        }
    }

    /// Whether a post is shown: a repost with what it reposts.
    pub(super) fn shown(&self, viewer: Viewer, note: usize) -> bool {
        let original = self.notes[note].repost_of;
        self.sees(viewer, note) == See::Yes && original.is_none_or(|original| self.sees(viewer, original) == See::Yes)
    }

    pub(super) fn newest_version(&self, note: usize) -> Option<usize> {
        let first = self.notes[note].first;
        (0..self.notes.len())
            .rev()
            .find(|other| self.notes[*other].first == first && self.notes[*other].life == Life::Live)
    }

    /// The post that is acted on by naming one, or the status of the refusal.
    pub(super) fn target(&self, actor: usize, note: usize) -> Result<usize, u16> {
        let of = self.notes[note].repost_of.unwrap_or(note);
        for one in [note, of] {
            match self.sees(Some(actor), one) {
                See::Yes => {}
                See::Forbidden => return Err(403),
                See::Missing => return Err(404),
            }
        }
        Ok(of)
    }

    /// What keeps somebody from doing something to another: the status.
    pub(super) fn reaches(&self, actor: usize, other: usize) -> Result<(), u16> {
        match self.people[other].state {
            State::Deleted => Err(404),
            State::Suspended => Err(403),
            State::Active if self.blocks.contains(&(other, actor)) => Err(403),
            State::Active => Ok(()),
        }
    }

    pub(super) fn sees_list(&self, viewer: Viewer, list: usize) -> bool {
        let list = &self.lists[list];
        let own = viewer == Some(list.owner);
        !list.gone && self.is_active(list.owner) && (own || !list.private)
    }

    /// The list that somebody wants to change.
    pub(super) fn own_list(&self, actor: usize, list: usize) -> Result<(), u16> {
        match self.lists[list].owner == actor {
            _ if !self.sees_list(Some(actor), list) => Err(404),
            true => Ok(()),
            false => Err(403),
        }
    }

    /// Live posts that a rule holds for.
    pub(super) fn live(&self, rule: impl Fn(&Note) -> bool) -> BTreeSet<usize> {
        let live = |note: &&Note| note.life == Life::Live && rule(note);
        let notes = self.notes.iter().enumerate();
        notes.filter(|(_, note)| live(note)).map(|(number, _)| number).collect()
    }

    pub(super) fn repost_of(&self, user: usize, note: usize) -> Option<usize> {
        let own = self.live(|repost| repost.author == user && repost.repost_of == Some(note));
        own.first().copied()
    }

    /// Likes, replies, reposts, quotes and bookmarks of a post.
    pub(super) fn counts(&self, note: usize) -> [usize; 5] {
        let edges = |pairs: &Pairs| pairs.iter().filter(|(_, of)| *of == note).count();
        [
            edges(&self.likes),
            self.live(|reply| reply.reply_to == Some(note)).len(),
            self.live(|repost| repost.repost_of == Some(note)).len(),
            self.live(|quote| quote.quote == Some(note)).len(),
            edges(&self.bookmarks),
        ]
    }

    /// Followers, followed, posts, lists and likes of a user.
    pub(super) fn standing(&self, user: usize) -> [usize; 5] {
        let on = |list: &&Listing| !list.gone && !list.private && list.members.contains(&user);
        [
            self.follows.iter().filter(|(_, to)| *to == user).count(),
            self.follows.iter().filter(|(from, _)| *from == user).count(),
            self.live(|note| note.author == user).len(),
            self.lists.iter().filter(on).count(),
            self.likes.iter().filter(|(who, _)| *who == user).count(),
        ]
    }

    /// Takes away a post with its versions, their reposts, and what hangs on them.
    pub(super) fn erase(&mut self, note: usize) {
        let first = self.notes[note].first;
        let versions: BTreeSet<usize> =
            (0..self.notes.len()).filter(|number| self.notes[*number].first == first).collect();
        for note in &mut self.notes {
            let repost = note.repost_of.is_some_and(|of| versions.contains(&of));
            if repost || versions.contains(&note.first) {
                note.life = Life::Gone;
            }
        }
        self.likes.retain(|(_, of)| !versions.contains(of));
        self.bookmarks.retain(|(_, of)| !versions.contains(of));
    }

    /// Those among some who are there to be shown.
    pub(super) fn present(&self, users: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        users.filter(|user| self.is_active(*user)).collect()
    }

    /// What a reader's home timeline holds.
    pub(super) fn home(&self, reader: usize) -> BTreeSet<usize> {
        let silenced =
            |author: usize| self.mutes.contains(&(reader, author)) || self.blocks.contains(&(reader, author));
        let followed =
            |author: usize| self.follows.contains(&(reader, author)) && !self.mutes.contains(&(reader, author));
        let mut all = self.live(|note| {
            let own = note.author == reader;
            let original = note.repost_of.map(|of| self.notes[of].author);
            (own || followed(note.author) && note.community.is_none()) && !original.is_some_and(silenced)
        });
        all.retain(|note| self.shown(Some(reader), *note));
        all
    }

    /// What the timeline of a list holds.
    pub(super) fn timeline(&self, viewer: Viewer, list: usize) -> BTreeSet<usize> {
        let mut all = self.live(|note| self.lists[list].members.contains(&note.author));
        all.retain(|note| self.shown(viewer, *note));
        all
    }
}

impl Model {
    pub(super) fn add_person(&mut self, premium: bool) {
        self.people.push(Human { state: State::Active, protected: false, premium });
    }

    /// A post that has nothing to do with others.
    pub(super) fn blank(&self, author: usize) -> Note {
        let number = self.notes.len();
        Note {
            author,
            life: Life::Live,
            reply_to: None,
            quote: None,
            repost_of: None,
            conversation: number,
            first: number,
            edits: 5,
            community: None,
            reserved: false,
            poll: None,
        }
    }
}
