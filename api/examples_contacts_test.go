package api_test

// tellOfContacts records contacts, their imports, exports, bulk changes, duplicates and merges, and tags.
func (r *recorder) tellOfContacts(c *caller) {
	r.Helper()
	ada := r.made(c, "contacts.create", `{"email":"ada.byron@example.com","first_name":"Ada","last_name":"Byron",`+
		`"phone":"+44 20 7946 0001","job_title":"Analyst","source":"website","tag":["newsletter","vip"],`+
		`"time_zone":"Europe/London","country":"GB","consent":{"basis":"consent","source":"Newsletter form",`+
		`"text":"Send me the newsletter"},"attributes":{"shoe_size":38}}`)
	r.plain(c, "contacts", ada, `{"stage":"mql","job_title":"Head of analysis"}`)
	r.call(c, "contacts.upsert_batch", `{"contacts":[{"email":"mary@example.com","first_name":"Mary",`+
		`"last_name":"Somerville","phone":"+44 20 7946 0099"},{"email":"m.somerville@example.com","first_name":"M.",`+
		`"last_name":"Somerville","phone":"+44 20 7946 0099"}]}`)
	r.call(c, "contacts.get_score", nil, ada)
	r.call(c, "contacts.search", `{"filter":{"field":"tag","op":"eq","value":"vip"},"sort":"-lead_score","limit":1}`)
	r.call(c, "contacts.list_timeline", nil, ada)
	r.call(c, "contacts.export_data", nil, ada)
	c.search()
	r.call(c, "duplicates.list", nil)
	r.call(c, "duplicates.search", nil)
	r.call(c, "contacts.request_consent", nil, ada)
	r.tellOfTemplates(c, ada)
	r.tellOfEmails(c, ada)
	r.tellOfSequences(c)
	r.tellOfMerges(c)
	r.tellOfFiles(c)
	bulk := r.made(c, "bulk_changes.create", `{"filter":{"field":"tag","op":"eq","value":"newsletter"},`+
		`"action":{"type":"tag","add":["spring-2026"],"remove":[]},"dry_run":true}`)
	r.call(c, "bulk_changes.list", nil)
	r.call(c, "bulk_changes.get", nil, bulk)
	r.call(c, "bulk_changes.cancel", nil, bulk)
	r.call(c, "tags.list", nil)
	r.call(c, "tags.rename", `{"name":"readers"}`, "newsletter")
	r.call(c, "tags.remove", nil, "vip")
}

func (r *recorder) tellOfMerges(c *caller) {
	r.Helper()
	var found struct {
		Data []struct{ Contacts []struct{ ID string } }
	}
	c.do("GET", duplicatesPath, nil).want(r, 200, "").into(r, &found)
	if len(found.Data) == 0 || len(found.Data[0].Contacts) < 2 {
		r.Fatal("there are no duplicates to merge")
	}
	pair := found.Data[0].Contacts
	r.call(c, "contacts.merge", `{"loser_ids":["`+pair[1].ID+`"]}`, pair[0].ID)
	r.call(c, "merges.list", nil)
	merge := c.first(mergesPath)
	r.call(c, "merges.get", nil, merge)
	r.call(c, "merges.undo", nil, merge)
}

// tellOfFiles records imports and exports before and after their work.
func (r *recorder) tellOfFiles(c *caller) {
	r.Helper()
	const file = "email,first_name,last_name,shoe size\ngrace@example.com,Grace,Hopper,39\nnone,Nobody,Known,40\n"
	const mapping = `{"shoe size":"attributes.shoe_size"}`
	sent := c.send(nil, "file", file, "mapping", mapping)
	r.record("imports.create", "multipart/form-data", map[string]string{"file": file, "mapping": mapping}, sent)
	var begun struct{ ID string }
	sent.into(r, &begun)
	export := r.made(c, "exports.create", `{"format":"csv","fields":["email","first_name","last_name"],`+
		`"filter":{"field":"stage","op":"eq","value":"lead"}}`)
	r.workFiles()
	r.call(c, "imports.list", nil)
	r.call(c, "imports.get", nil, begun.ID)
	r.call(c, "imports.undo", nil, begun.ID)
	r.call(c, "exports.list", nil)
	r.call(c, "exports.get", nil, export)
	r.workFiles()
}

// tellOfScores records the score model and the operations with a language model.
func (r *recorder) tellOfScores(c *caller) {
	r.Helper()
	contact := c.first(contactsPath)
	r.call(c, "score_model.get", nil)
	r.call(c, "score_model.list_versions", nil)
	r.call(c, "score_model.get_version", nil, "prior-1")
	r.call(c, "score_model.train", nil)
	r.call(c, "score_model.rollback", `{"version":"prior-1"}`)
	r.call(c, "ai.draft_email", `{"contact_id":"`+contact+`","goal":"A meeting next week","tone":"friendly"}`)
	r.call(c, "ai.summarize_contact", `{"contact_id":"`+contact+`"}`)
	r.call(c, "ai.suggest_next_action", `{"contact_id":"`+contact+`"}`)
	r.call(c, "ai.classify_reply", `{"subject":"Your offer","text":"Sounds good, please call me on Monday."}`)
	r.call(c, "ai.get_usage", nil)
}
