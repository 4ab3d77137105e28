//! Lists: paging, order and filters.

use super::*;

impl Subject<'_> {
    /// What a list must be asked with.
    pub(super) fn scope(&self) -> Params {
        let must = self.of.filters.iter().filter(|filter| filter.parameter.is_required());
        must.map(|filter| {
            let field = self.of.field(filter.field).unwrap();
            (filter.parameter.name.post, self.value(field))
        })
        .collect()
    }

    pub(super) fn asked(&self, more: &[(&'static str, &str)]) -> Params {
        let mut params = self.scope();
        params.retain(|(name, _)| more.iter().all(|(other, _)| other != name));
        params.extend(more.iter().map(|(name, value)| (*name, Value::from(*value))));
        params
    }

    pub(super) fn lists(&mut self, created: &[String]) {
        let list = |this: &Self, more: &[(&'static str, &str)]| this.ask("GET", &this.path, &this.asked(more));
        let response = list(self, &[]);
        let all = ids(&self.well(&response, "list"));
        self.holds(created.iter().all(|id| all.contains(id)), || format!("lists {all:?} without {created:?}"));
        let (_, most) = self.of.page_size;
        for (count, fits) in [("0", false), ("1", true), ("x", false), ("-1", false)] {
            let response = list(self, &[("count", count)]);
            if fits {
                self.well(&response, "count");
            } else {
                self.refused(&response, 400, "INVALID_PARAMETER", "count");
            }
        }
        self.well(&list(self, &[("count", &most.to_string())]), "the largest count");
        let response = list(self, &[("count", &(most + 1).to_string())]);
        self.refused(&response, 400, "INVALID_PARAMETER", "count");
        let response = list(self, &[("cursor", "nonsense")]);
        self.refused(&response, 400, "INVALID_PARAMETER", "cursor");
        let name = self.of.field(self.of.name_field).map(|field| field.name.post);
        let sortable = ["created_at", "updated_at", "deleted"].into_iter().chain(name);
        for name in sortable.chain(self.of.sort_fields.iter().chain(self.of.constant_sorts).copied()) {
            for way in ["asc", "desc"] {
                let sort = format!("{name}-{way}");
                let response = list(self, &[("sort_by", &sort)]);
                let mut sorted = ids(&self.well(&response, &sort));
                let walked = self.walk(&sort);
                self.holds(walked == sorted, || format!("{sort}: {walked:?} page by page, not {sorted:?}"));
                sorted.sort();
                let mut same = all.clone();
                same.sort();
                self.holds(sorted == same, || format!("{sort}: {sorted:?}"));
            }
        }
        for sort in ["deleted-asc,updated_at-desc", "deleted-desc,created_at-asc,deleted-asc"] {
            let response = list(self, &[("sort_by", sort)]);
            let sorted = ids(&self.well(&response, sort));
            let walked = self.walk(sort);
            self.holds(walked == sorted, || format!("{sort}: {walked:?} page by page, not {sorted:?}"));
        }
        for sort in ["id-asc", "created_at", "created_at-up", "created_at-asc,x"] {
            let response = list(self, &[("sort_by", sort)]);
            self.refused(&response, 400, "INVALID_PARAMETER", "sort_by");
        }
        if self.of.supports_list_extras {
            let response = list(self, &[("with_total_count", "true")]);
            let total = self.well(&response, "total")["total_count"].as_u64();
            self.holds(total == u64::try_from(all.len()).ok(), || format!("total {total:?} of {all:?}"));
            let response = list(self, &[("with_total_count", "true"), ("cursor", "x")]);
            self.refused(&response, 400, "EXCLUSIVE_PARAMETERS", "cursor");
        }
        if self.of.max_name_prefix > 0 {
            let response = list(self, &[("q", &"q".repeat(self.of.max_name_prefix + 1))]);
            self.refused(&response, 400, "INVALID_PARAMETER", "q");
            let response = list(self, &[("q", "no such name")]);
            let none = ids(&self.well(&response, "q"));
            self.holds(none.is_empty(), || format!("q finds {none:?}"));
        }
        for filter in self.of.filters {
            self.filters(filter, created);
        }
    }

    pub(super) fn walk(&self, sort: &str) -> Vec<String> {
        let (mut walked, mut cursor) = (Vec::new(), String::new());
        for _ in 0..100 {
            let mut more = vec![("sort_by", sort), ("count", "2")];
            if !cursor.is_empty() {
                more.push(("cursor", &cursor));
            }
            let page = self.ask("GET", &self.path, &self.asked(&more)).json();
            walked.extend(ids(&page));
            match page["next_cursor"].as_str() {
                Some(next) => next.clone_into(&mut cursor),
                None => break,
            }
        }
        walked
    }

    pub(super) fn filters(&mut self, filter: &'static ListFilter, created: &[String]) {
        let name = filter.parameter.name.post;
        let list = |this: &Self, value: &str| this.ask("GET", &this.path, &this.asked(&[(name, value)]));
        if filter.parameter.is_required() {
            let response = self.ask("GET", &self.path, &Params::new());
            self.refused(&response, 400, "MISSING_PARAMETER", name);
        }
        for value in bad(filter.parameter.kind) {
            let response = list(self, &value);
            self.refused(&response, 400, "INVALID_PARAMETER", name);
        }
        if let (Some(of), Some((_, most))) = (filter.parameter.kind.downcast::<Resource>(), filter.parameter.kind.list)
        {
            let many: Vec<String> =
                (0..=most).map(|number| of.id_format.format(1_000 + i64::try_from(number).unwrap())).collect();
            let response = list(self, &many.join(","));
            self.refused(&response, 400, "INVALID_PARAMETER", name);
            let response = list(self, "a-b");
            self.refused(&response, 404, "INVALID_ID_ILLEGAL_CHARACTERS", name);
            // One that looks at what is asked for may refuse it.
            let response = match self.of.list_guard {
                Some(_) => list(self, ""),
                None => list(self, &nobody(of)),
            };
            let none = ids(&self.well(&response, name));
            let so = none.is_empty() || self.of.list_guard.is_some();
            self.holds(so, || format!("{name} finds {none:?}"));
            let own = filter.field == "id" && std::ptr::eq(of, self.of);
            for id in created.iter().filter(|_| own) {
                let response = list(self, id);
                let found = ids(&self.well(&response, name));
                let so = found == [id.as_str()];
                self.holds(so, || format!("{name}={id} finds {found:?}"));
            }
        }
        // What it was made with finds it.
        let field = self
            .of
            .field(filter.field)
            .filter(|field| field.create == FieldRequirement::Required && self.is_made_here());
        if let Some(value) = field.map(|field| self.value(field)) {
            let response = list(self, value.as_str().unwrap_or_default());
            let found = ids(&self.well(&response, name));
            self.holds(created.iter().all(|id| found.contains(id)), || format!("{name}: {found:?}"));
        }
    }
}
