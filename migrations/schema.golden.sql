-- The whole schema, read from the catalogue by migrations_test.go; for review, never run.

-- tables
ai_quota (org_id uuid not null, period date not null, used bigint not null default 0, reserved bigint not null default 0, told smallint not null default 0)
ai_reservation (org_id uuid not null, id uuid not null, period date not null, operation text not null, estimate bigint not null, charged bigint, state text not null default 'open'::text, request_id text not null default ''::text, client_key text, created_at timestamp with time zone not null, expires_at timestamp with time zone not null, cap bigint)
api_key (org_id uuid not null, id uuid not null, name text not null, role text not null, hint text not null, hash bytea not null, created_by uuid not null, created_at timestamp with time zone not null default now(), last_used_at timestamp with time zone, revoked_at timestamp with time zone, edit integer not null default 1)
app_user (id uuid not null, email text not null, email_folded text not null, password_hash text not null default ''::text, first_name text not null default ''::text, last_name text not null default ''::text, verified_at timestamp with time zone, last_org_id uuid, created_at timestamp with time zone not null default now(), disabled_at timestamp with time zone)
archive_day (name text not null, folder text not null, detached_at timestamp with time zone not null default now())
archive_part (name text not null, part integer not null, lines bigint not null, bytes bigint not null, sha256 bytea not null, last_org uuid not null, last_id uuid not null)
audit_log (org_id uuid not null, id uuid not null, created_at timestamp with time zone not null default now(), actor_type text not null, actor_id text not null, action text not null, target_type text not null, target_id text not null, detail json not null, request_id text not null)
billing_customer (org_id uuid not null, stripe_id text, stripe_key text not null, keyed_at timestamp with time zone not null, version bigint not null default 0)
billing_preview (org_id uuid not null, id uuid not null, plan text not null, interval text not null, timing text not null, base text not null, amount_due bigint not null, total bigint not null, currency text not null, lines json not null, proration_date timestamp with time zone not null, created_at timestamp with time zone not null, expires_at timestamp with time zone not null)
billing_price (stripe_id text not null, kind text not null, plan text not null, interval text not null, amount bigint not null, currency text not null, replaced boolean not null default false, synced_at timestamp with time zone not null default now())
billing_sync (name text not null, position text not null, updated_at timestamp with time zone not null default now())
brand (org_id uuid not null, brand_name text, color_primary text, color_accent text, color_background text, color_text text, hide_brand boolean not null default false, support_email text, logo bytea, logo_type text, logo_digest text, logo_width integer, logo_height integer, created_at timestamp with time zone not null default now(), updated_at timestamp with time zone not null default now(), edit integer not null default 1)
broadcast (org_id uuid not null, id uuid not null, name text not null, mailbox_id uuid, segment uuid, filter json, mail json not null, send_at timestamp with time zone, local_time boolean not null default false, status text not null, resumes text not null default ''::text, run integer not null default 0, frozen json, frozen_at timestamp with time zone, after_at timestamp with time zone, after_id uuid, total integer not null default 0, sendable integer not null default 0, left_out jsonb not null default '{}'::jsonb, created_by text not null default ''::text, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, completed_at timestamp with time zone, archived_at timestamp with time zone, edit integer not null default 1, computed integer not null default 0)
broadcast_recipient (org_id uuid not null, broadcast_id uuid not null, contact_id uuid not null, due_at timestamp with time zone not null, written boolean not null default false, created_at timestamp with time zone not null)
client_org (org_id uuid not null, id uuid not null, name text not null, created_by uuid not null, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, paused_at timestamp with time zone, detached_at timestamp with time zone, edit integer not null default 1)
company (org_id uuid not null, id uuid not null, name text not null, name_folded text not null, domain text, website text, industry text, size text, phone text, owner_id uuid, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1, external_ids jsonb not null default '{}'::jsonb)
company_word (org_id uuid not null, word text not null, company_id uuid not null)
connect_account (org_id uuid not null, stripe_id text, stripe_key text not null, keyed_at timestamp with time zone not null, attempt integer not null default 1, intended_at timestamp with time zone not null, state text not null default 'not_started'::text, details_submitted boolean not null default false, charges_enabled boolean not null default false, payouts_enabled boolean not null default false, card_payments text not null default ''::text, transfers text not null default ''::text, currently_due text[] not null default '{}'::text[], past_due text[] not null default '{}'::text[], pending_verification text[] not null default '{}'::text[], deadline timestamp with time zone, disabled_reason text not null default ''::text, version bigint not null default 0, state_since timestamp with time zone not null, created_at timestamp with time zone not null, updated_at timestamp with time zone not null)
connect_fee (org_id uuid not null, invoice_id text not null, sale_id uuid not null, account text not null, charge_id text not null, fee_id text not null, currency text not null, gross bigint not null, stripe_fee bigint not null, application_fee bigint not null, net bigint not null, fee_bps integer not null, refunded bigint not null default 0, fee_refunded bigint not null default 0, paid_at timestamp with time zone not null, updated_at timestamp with time zone not null)
connect_sale (org_id uuid not null, id uuid not null, client_org_id uuid not null, account text not null, state text not null, keyed_at timestamp with time zone not null, email text not null, name text not null, amount bigint not null, currency text not null, interval text not null, days_until_due integer not null, subscription_id text not null default ''::text, fee_bps integer not null, fee_wanted integer not null, fee_refused_at timestamp with time zone, failure text not null default ''::text, created_at timestamp with time zone not null, updated_at timestamp with time zone not null)
consent_request (org_id uuid not null, contact_id uuid not null, requests integer not null default 1, since timestamp with time zone not null default now())
contact (org_id uuid not null, id uuid not null, email text not null, email_folded text not null, first_name text not null, last_name text not null, last_name_folded text not null, phone text, job_title text, source text, time_zone text, company_id uuid, stage text not null, tags text[] not null default '{}'::text[], attributes jsonb not null default '{}'::jsonb, owner_id uuid, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1, first_name_folded text not null default ''::text, phone_folded text, job_title_folded text, source_folded text, time_zone_folded text, words text not null default ''::text, country text, country_folded text, consent jsonb, external_ids jsonb not null default '{}'::jsonb)
contact_attribute (org_id uuid not null, contact_id uuid not null, key text not null, archived boolean not null default false, text text, rest text, number double precision, flag boolean, created_at timestamp with time zone not null)
contact_bulk (org_id uuid not null, id uuid not null, action jsonb not null, filter jsonb, dry_run boolean not null, status text not null default 'queued'::text, rows_total bigint not null default 0, rows_changed bigint not null default 0, rows_unchanged bigint not null default 0, rows_failed bigint not null default 0, sample_ids uuid[] not null default '{}'::uuid[], errors jsonb not null default '[]'::jsonb, error text, actor_type text not null, actor_id text not null, request_id text not null, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, completed_at timestamp with time zone)
contact_bulk_part (org_id uuid not null, bulk_id uuid not null, n integer not null, ids uuid[] not null, size integer not null)
contact_duplicate (org_id uuid not null, reason text not null, n integer not null, contact_ids uuid[] not null)
contact_duplicate_search (org_id uuid not null, asked_at timestamp with time zone not null, completed_at timestamp with time zone)
contact_export (org_id uuid not null, id uuid not null, status text not null, format text not null, filter json, archived boolean not null, fields text[] not null, rows integer not null default 0, bytes bigint not null default 0, parts integer not null default 0, after_at timestamp with time zone, after_id uuid, error text, actor_type text not null, actor_id text not null, request_id text not null, link_key bytea not null, created_at timestamp with time zone not null, started_at timestamp with time zone, completed_at timestamp with time zone, expires_at timestamp with time zone not null, computed integer not null default 0, bom boolean not null default false, sheet jsonb)
contact_export_part (org_id uuid not null, export_id uuid not null, part integer not null, data bytea not null)
contact_field (org_id uuid not null, key text not null, label text not null, type text not null, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1, folded text)
contact_import (org_id uuid not null, id uuid not null, status text not null, dry_run boolean not null default false, suppress_events boolean not null default false, file_name text, columns jsonb not null default '[]'::jsonb, fields_new text[] not null default '{}'::text[], blocks integer not null default 0, next_block integer not null default 0, rows_total integer not null default 0, rows_created integer not null default 0, rows_updated integer not null default 0, rows_unchanged integer not null default 0, rows_failed integer not null default 0, rows_repeated integer not null default 0, error text, actor_type text not null, actor_id text not null, request_id text not null, link_key bytea not null, created_at timestamp with time zone not null, started_at timestamp with time zone, completed_at timestamp with time zone, undo_status text, undo_act text not null default 'created'::text, undo_from uuid, undo_archived integer not null default 0, undo_restored integer not null default 0, undo_left integer not null default 0, undo_at timestamp with time zone, computed integer not null default 0, rows_blank integer not null default 0, warnings_count integer not null default 0, strict boolean not null default false, locale text not null default ''::text, source jsonb not null default '{}'::jsonb, create_companies boolean not null default false)
contact_import_block (org_id uuid not null, import_id uuid not null, block integer not null, data bytea not null)
contact_import_effect (org_id uuid not null, import_id uuid not null, contact_id uuid not null, act text not null, was_edit integer not null, edit integer not null, before jsonb, after jsonb, email_folded text)
contact_import_error (org_id uuid not null, import_id uuid not null, row integer not null, code text not null, detail text not null, cells bytea not null)
contact_import_warning (org_id uuid not null, import_id uuid not null, number integer not null, row integer not null, col text, code text not null, detail text not null)
contact_merge (org_id uuid not null, id uuid not null, survivor_id uuid not null, loser_ids uuid[] not null, undo jsonb, created_at timestamp with time zone not null, undone_at timestamp with time zone)
contact_merged (org_id uuid not null, survivor_id uuid not null, contact_id uuid not null, merge_id uuid not null)
contact_score (org_id uuid not null, contact_id uuid not null, score double precision not null, probability double precision not null, version text not null, confidence text not null, announced double precision not null, archived boolean not null default false, segments text[] not null default '{}'::text[], computed integer not null default 0, scored_at timestamp with time zone not null, first_score double precision, first_probability double precision, first_version text, engagement double precision[], fades_at timestamp with time zone, stage text)
contact_tag (org_id uuid not null, tag text not null, archived boolean not null default false, created_at timestamp with time zone not null, contact_id uuid not null)
contact_word (org_id uuid not null, word text not null, contact_id uuid not null)
day_count (org_id uuid not null, day date not null, contacts bigint not null default 0, deliveries bigint not null default 0, delivery_failures bigint not null default 0, emails_sent bigint not null default 0, replies bigint not null default 0)
day_deals (org_id uuid not null, day date not null, status text not null, currency text not null, deals bigint not null, amount bigint not null)
deal (org_id uuid not null, id uuid not null, name text not null, contact_id uuid, company_id uuid, pipeline_id uuid not null, stage_id uuid not null, status text not null, open_stage_id uuid, amount bigint not null, currency text not null, lost_reason text, expected_close_on date, expected_order date not null default COALESCE(expected_close_on, 'infinity'::date), owner_id uuid, closed_at timestamp with time zone, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1, place text, position text not null default (COALESCE(place, (translate(replace((id)::text, '-'::text, ''::text), '0123456789abcdef'::text, 'fedcba9876543210'::text) || 'i'::text)) COLLATE "C"), external_ids jsonb not null default '{}'::jsonb)
deal_word (org_id uuid not null, word text not null, deal_id uuid not null)
domain (org_id uuid not null, id uuid not null, host text not null, token text not null, status text not null default 'pending_dns'::text, held boolean not null default (status = ANY (ARRAY['verified'::text, 'active'::text, 'degraded'::text, 'suspended'::text])), reason text not null default ''::text, failures integer not null default 0, claimed_at timestamp with time zone not null default now(), proven_at timestamp with time zone, routed_at timestamp with time zone, checked_at timestamp with time zone, failed_at timestamp with time zone, degraded_at timestamp with time zone, suspended_at timestamp with time zone, lost_at timestamp with time zone, removed_at timestamp with time zone, next_check_at timestamp with time zone not null default (now() + '00:01:00'::interval), rights_seen bigint not null default 0, changed bigint not null default 0, use text not null default 'pages'::text)
domain_feed (one boolean not null default true, version bigint not null default 0)
email (org_id uuid not null, id uuid not null, mailbox_id uuid not null, contact_id uuid, thread_id uuid not null, reply_to_id uuid, enrolment_id uuid, step text, variant text, broadcast_id uuid, automated boolean not null default false, purpose text not null, subject text not null, to_email text not null, to_domain text not null, message_id text not null, message_hash bytea not null, status text not null, status_reason text not null default ''::text, scheduled_at timestamp with time zone, due_at timestamp with time zone not null, attempt integer not null default 0, fence uuid, marked_at timestamp with time zone, sent_at timestamp with time zone, smtp_reply text not null default ''::text, evidence jsonb not null default '[]'::jsonb, track_opens boolean not null default false, track_clicks boolean not null default false, delivered_at timestamp with time zone, bounced text, complained_at timestamp with time zone, replied_at timestamp with time zone, opens integer not null default 0, machine_opens integer not null default 0, clicks integer not null default 0, machine_clicks integer not null default 0, created_by text not null default ''::text, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, edit integer not null default 1, computed integer not null default 0, refused_at timestamp with time zone, mime_sha256 bytea, late_hours integer not null default 24, soft_bounced_at timestamp with time zone, server_id text not null default ''::text, sender_refusals smallint not null default 0)
email_attachment (org_id uuid not null, email_id uuid not null, n integer not null, name text not null, type text not null, content bytea not null)
email_content (org_id uuid not null, email_id uuid not null, from_email text not null, from_name text not null, reply_to text not null, to_name text not null, html text not null, text text not null, in_reply_to text not null, refs text[] not null, list_unsubscribe text[] not null, dated_at timestamp with time zone not null, attachments integer not null default 0, mime_sha256 bytea, created_at timestamp with time zone not null, bounce_to text not null default ''::text)
email_fact (org_id uuid not null, id uuid not null, email_id uuid not null, contact_id uuid, kind text not null, link smallint, machine boolean not null, why text[] not null, at timestamp with time zone not null)
email_hit (org_id uuid not null, id uuid not null, email_id uuid not null, link smallint not null, at timestamp with time zone not null, signs integer not null, net bytea not null, judged boolean not null default false)
email_link (org_id uuid not null, email_id uuid not null, n smallint not null, url text not null)
email_month (org_id uuid not null, period date not null, slot smallint not null, used bigint not null, told smallint not null default 0)
enrolment (org_id uuid not null, id uuid not null, sequence_id uuid not null, version integer not null, contact_id uuid not null, state text not null, reason text not null default ''::text, step text not null, step_number integer not null default 1, due_at timestamp with time zone, kept_due_at timestamp with time zone, resume_at timestamp with time zone, until_at timestamp with time zone, task_id uuid, grp bigint not null, prio smallint not null default 1, mailbox_id uuid not null, zone text not null, last_email_id uuid, next_step text not null default ''::text, next_value integer not null default 0, next_unit text not null default ''::text, next_grp bigint not null default 0, stop_reply boolean not null default true, stop_company boolean not null default false, stop_deal boolean not null default false, batch_id uuid, created_by text not null default ''::text, created_at timestamp with time zone not null, started_at timestamp with time zone, state_at timestamp with time zone not null, ended_at timestamp with time zone, edit integer not null default 1, exclusive boolean not null default false, first_state text not null default ''::text, first_step text not null default ''::text)
enrolment_batch (org_id uuid not null, id uuid not null, sequence_id uuid not null, request jsonb not null, status text not null, after_at timestamp with time zone, after_id uuid, done integer not null default 0, total integer not null default 0, enrolled integer not null default 0, skipped jsonb not null default '{}'::jsonb, error text not null default ''::text, created_by text not null default ''::text, created_at timestamp with time zone not null, completed_at timestamp with time zone)
enrolment_history (org_id uuid not null, enrolment_id uuid not null, id uuid not null, at timestamp with time zone not null, from_state text not null, to_state text not null, step text not null, cause text not null, email_id uuid, message_id uuid)
enrolment_move (org_id uuid not null, id uuid not null, sequence_id uuid not null, from_version integer not null, to_version integer not null, chosen json not null, dry_run boolean not null, status text not null, after_id uuid, total integer not null, moved integer not null default 0, finished integer not null default 0, error text not null default ''::text, created_by text not null, created_at timestamp with time zone not null, completed_at timestamp with time zone)
enrolment_result (org_id uuid not null, batch_id uuid not null, contact_id uuid not null, reason text not null, created_at timestamp with time zone not null)
event (org_id uuid not null, id uuid not null, seq bigint not null, type text not null, actor_type text not null, actor_id text not null default ''::text, request_id text not null default ''::text, data json not null, created_at timestamp with time zone not null, traceparent text default NULLIF(current_setting('app.traceparent'::text, true), ''::text)) partition by RANGE (id)
event_horizon_row (xid bigint not null)
external_id (org_id uuid not null, kind text not null, system text not null, value text not null, record_id uuid not null, archived boolean not null)
idempotency_key (org_id uuid not null, key text not null, fingerprint bytea not null, answer bytea not null, created_at timestamp with time zone not null default now())
installation (one boolean not null default true, id uuid not null default gen_random_uuid(), serves_from bigint not null default 0)
invitation (org_id uuid not null, id uuid not null, email text not null, email_folded text not null, role text not null, token_hash bytea not null, invited_by uuid not null, created_at timestamp with time zone not null default now(), updated_at timestamp with time zone not null default now(), expires_at timestamp with time zone not null, closed_at timestamp with time zone, edit integer not null default 1)
invitation_count (org_id uuid not null, id uuid not null, created_at timestamp with time zone not null default clock_timestamp())
invitation_mail (address bytea not null, sent_at timestamp with time zone not null default clock_timestamp())
job (id uuid not null, org_id uuid not null, kind text not null, args json not null, lane text not null, run_at timestamp with time zone not null default now(), state text not null default 'ready'::text, attempt integer not null default 0, max_attempts integer not null, dispatch integer not null default 0, owner uuid, wake_at timestamp with time zone, losses integer not null default 0, dedupe_key text, last_error text not null default ''::text, created_at timestamp with time zone not null default now(), line uuid, due boolean not null default false, lease_until timestamp with time zone, traceparent text default NULLIF(current_setting('app.traceparent'::text, true), ''::text), delayed_at timestamp with time zone)
job_act (id uuid not null, at timestamp with time zone not null default clock_timestamp(), actor text not null, act text not null, scope text not null default ''::text, jobs uuid[] not null default '{}'::uuid[], count integer not null, reason text not null default ''::text)
job_death (org_id uuid not null, id uuid not null, kind text not null, lane text not null, died_at timestamp with time zone not null default clock_timestamp(), error text not null)
job_floor (at timestamp with time zone not null)
job_lane (lane text not null, full_until timestamp with time zone not null)
job_line (org_id uuid not null, id uuid not null, slots integer not null default 10, held_until timestamp with time zone, probing boolean not null default false, rate integer, next_at timestamp with time zone not null default now(), held_at timestamp with time zone)
job_pause (scope text not null, name text not null, paused_at timestamp with time zone not null default now(), by_hand boolean not null default true, suspended boolean not null default false)
job_redrive (id uuid not null, actor text not null, reason text not null, filter json not null, rate integer not null, total integer not null, done integer not null default 0, created_at timestamp with time zone not null default now(), stepped_at timestamp with time zone not null default now(), ended_at timestamp with time zone, cancelled boolean not null default false)
job_weight (org_id uuid not null, weight integer not null)
mailbox (org_id uuid not null, id uuid not null, name text not null, kind text not null, from_email text not null, from_folded text not null, from_domain text not null, from_name text not null default ''::text, reply_to text, smtp_host text not null default ''::text, smtp_port integer not null default 0, smtp_tls text not null default 'tls'::text, smtp_username text not null default ''::text, smtp_password bytea, imap_host text not null default ''::text, imap_port integer not null default 0, imap_tls text not null default 'tls'::text, imap_username text not null default ''::text, imap_password bytea, imap_uidvalidity bigint, imap_uidnext bigint, social_account_id uuid, daily_cap integer, gap_min integer not null default 30, gap_max integer not null default 120, rate_per_second integer, ramp_start integer, ramp_step integer not null default 5, ramp_allowed integer, ramp_on date, time_zone text not null default ''::text, track_opens boolean not null default false, track_clicks boolean not null default false, signature_html text not null default ''::text, owner_id uuid, status text not null, status_reason text not null default ''::text, held_until timestamp with time zone, verified_at timestamp with time zone, next_slot_at timestamp with time zone, check_id text not null default ''::text, checked_at timestamp with time zone, sent_proof boolean not null default false, inbound_hash bytea, health_sent integer not null default 0, health_bounced integer not null default 0, health_complained integer not null default 0, health_from uuid, spf text not null default 'unknown'::text, dkim text not null default 'unknown'::text, dmarc text not null default 'unknown'::text, domain_checked_at timestamp with time zone, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1, computed integer not null default 0, auth_refusals integer not null default 0, check_requested_at timestamp with time zone, rate_next_at timestamp with time zone, health_since timestamp with time zone not null default '-infinity'::timestamp with time zone, health_at timestamp with time zone, ramp_halved_on date, refusals integer not null default 0, refusal_reply text not null default ''::text, reassigned_to uuid, check_detail text not null default ''::text, check_action text not null default ''::text)
mailbox_folder (org_id uuid not null, mailbox_id uuid not null, folder text not null, uidvalidity bigint not null default 0, uidnext bigint not null default 0, next_sync_at timestamp with time zone not null, synced_at timestamp with time zone, error text not null default ''::text, failures integer not null default 0, stuck_uid bigint not null default 0, stuck integer not null default 0, skipped integer not null default 0)
mailbox_provider (org_id uuid not null, id uuid not null, provider text not null, key bytea not null, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, last_event_at timestamp with time zone)
mailbox_silence (org_id uuid not null, mailbox_id uuid not null, server text not null, since timestamp with time zone not null default now(), failures integer not null default 1, detail text not null, next_at timestamp with time zone not null)
member (org_id uuid not null, user_id uuid not null, invited_as uuid, role text not null, created_at timestamp with time zone not null default now(), updated_at timestamp with time zone not null default now(), removed_at timestamp with time zone, edit integer not null default 1)
message (org_id uuid not null, id uuid not null, mailbox_id uuid not null, identity bytea not null, via text not null, received_at timestamp with time zone not null, read_at timestamp with time zone, thread_id uuid, contact_id uuid, email_id uuid, message_id text not null default ''::text, from_email text not null default ''::text, from_name text not null default ''::text, from_folded text not null default ''::text, to_emails text[] not null default '{}'::text[], subject text not null default ''::text, text text not null default ''::text, html text not null default ''::text, reply_text text not null default ''::text, class text not null default ''::text, class_by text not null default 'rule'::text, match text not null default 'none'::text, own boolean not null default false, bounce text not null default ''::text, code text not null default ''::text, recipient text not null default ''::text, diagnostic text not null default ''::text, back_on date, attachments jsonb not null default '[]'::jsonb, edit integer not null default 1, sure boolean not null default true)
message_raw (org_id uuid not null, id uuid not null, raw bytea not null, created_at timestamp with time zone not null)
note (org_id uuid not null, id uuid not null, body text not null, author_id uuid, contact_id uuid, company_id uuid, deal_id uuid, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1, external_ids jsonb not null default '{}'::jsonb)
oauth_state (org_id uuid not null, hash bytea not null, platform text not null, kind text not null, actor_type text not null, actor_id uuid not null, staff_of uuid, account_id uuid, verifier bytea, redirect_url text not null default ''::text, browser bytea, created_at timestamp with time zone not null default now(), expires_at timestamp with time zone not null)
org (id uuid not null, org_id uuid not null default id, name text not null, settings jsonb not null default '{}'::jsonb, stages text[] not null default '{subscriber,lead,mql,sql,opportunity,customer,evangelist,other}'::text[], plan text not null default 'trial'::text, rate_per_minute integer, created_at timestamp with time zone not null default now(), updated_at timestamp with time zone not null default now(), edit integer not null default 1, parent_org_id uuid, level smallint not null default 
CASE
    WHEN (parent_org_id IS NULL) THEN 0
    ELSE 1
END, parent_level smallint default 
CASE
    WHEN (parent_org_id IS NOT NULL) THEN 0
    ELSE NULL::integer
END, writes_until timestamp with time zone, paused_at timestamp with time zone, computed integer not null default 0, suspended_at timestamp with time zone, suspended_reason text not null default ''::text)
org_key (org_id uuid not null, sealed bytea not null, created_at timestamp with time zone not null default now())
org_sending (org_id uuid not null, postal_address text, default_purpose text not null, daily_cap integer, domain_daily_cap integer, blocked_countries text[] not null, stop_on_reply boolean not null, stop_on_company_reply boolean not null, stop_on_deal_won boolean not null, track_opens boolean not null, track_clicks boolean not null, updated_at timestamp with time zone not null, edit integer not null, tracking_domain text, cap_room integer, track_off boolean not null default false)
outreach_count (org_id uuid not null, source_id uuid not null, xid bigint not null, step text not null, variant text not null, pending bigint not null, active bigint not null, sending bigint not null, paused bigint not null, finished bigint not null, replied bigint not null, unsubscribed bigint not null, bounced bigint not null, goal_met bigint not null, failed bigint not null, removed bigint not null, waiting bigint not null, transmitting bigint not null, sent bigint not null, unknown bigint not null, refused bigint not null, cancelled bigint not null, delivered bigint not null, returned bigint not null, complained bigint not null, answered bigint not null, clicked bigint not null, opened bigint not null, machine_clicked bigint not null, machine_opened bigint not null, unsubscribing bigint not null, machine_clicks bigint not null, machine_opens bigint not null, marked_at timestamp with time zone, unmarked_at timestamp with time zone)
outreach_delta (org_id uuid not null, source_id uuid not null, xid bigint not null, id bigint not null, step text not null, variant text not null, pending integer, active integer, sending integer, paused integer, finished integer, replied integer, unsubscribed integer, bounced integer, goal_met integer, failed integer, removed integer, waiting integer, transmitting integer, sent integer, unknown integer, refused integer, cancelled integer, delivered integer, returned integer, complained integer, answered integer, clicked integer, opened integer, machine_clicked integer, machine_opened integer, unsubscribing integer, machine_clicks integer, machine_opens integer, marked_at timestamp with time zone, unmarked_at timestamp with time zone)
outreach_uncounted (org_id uuid not null, source_id uuid not null)
overview_state (org_id uuid not null, seq bigint not null default 0, counted_at timestamp with time zone not null default '-infinity'::timestamp with time zone, whole_at timestamp with time zone not null default '-infinity'::timestamp with time zone, late_at timestamp with time zone not null default '-infinity'::timestamp with time zone, rest_until timestamp with time zone not null default '-infinity'::timestamp with time zone, due_at timestamp with time zone, read_at timestamp with time zone not null default '-infinity'::timestamp with time zone, look_at timestamp with time zone not null default now(), ended_before uuid, ended_deliveries bigint not null default 0, ended_failures bigint not null default 0)
partitioned (name text not null, keep_days integer not null, filled integer not null default 100, archived boolean not null default true)
pipeline (org_id uuid not null, id uuid not null, name text not null, is_default boolean not null default false, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1)
pipeline_stage (org_id uuid not null, id uuid not null, pipeline_id uuid not null, place integer not null, name text not null, kind text not null, probability integer not null)
plan_addon (org_id uuid not null, id uuid not null, feature text not null, amount bigint, created_at timestamp with time zone not null default now())
plan_change (org_id uuid not null, id uuid not null, kind text not null, state text not null, from_plan text not null, from_interval text not null, to_plan text not null, to_interval text not null, params json not null, stripe_key text not null, keyed_at timestamp with time zone not null, preview_id uuid, amount_expected bigint not null, amount_due bigint not null default 0, currency text not null, subscription_id text not null default ''::text, invoice_id text not null default ''::text, failure text not null default ''::text, client_key text, fingerprint bytea, effective_at timestamp with time zone, created_at timestamp with time zone not null, updated_at timestamp with time zone not null)
plan_change_step (org_id uuid not null, change_id uuid not null, id uuid not null, event text not null, detail json not null, created_at timestamp with time zone not null)
plan_override (org_id uuid not null, feature text not null, value json not null, source text not null, expires_at timestamp with time zone, created_at timestamp with time zone not null default now())
process (id uuid not null, role text not null, host text not null, keys bigint[] not null, primary_key bigint not null, former_key bigint, changed_at timestamp with time zone not null default now(), started_at timestamp with time zone not null default now(), seen_at timestamp with time zone not null default now())
provider_event (org_id uuid not null, mailbox_id uuid not null, identity bytea not null, received_at timestamp with time zone not null)
quota (org_id uuid not null, feature text not null, cap bigint not null, overage boolean not null default false, used bigint not null, told smallint not null default 0)
quota_source (feature text not null, relation text not null, gone text not null)
refolding (org_id uuid not null, version integer not null default 0, part text not null default ''::text, after_id uuid, rows bigint not null default 0, merged integer not null default 0, collisions integer not null default 0, ended_at timestamp with time zone)
refresh_token (org_id uuid not null, id uuid not null, family uuid not null, user_id uuid not null, hash bytea not null, created_at timestamp with time zone not null default now(), expires_at timestamp with time zone not null, used_at timestamp with time zone, successor bytea, revoked_at timestamp with time zone, ip text not null default ''::text, user_agent text not null default ''::text, client text not null default ''::text)
request_log (org_id uuid not null, id uuid not null, request_id text not null, method text not null, route text not null, status smallint not null, code text not null, took_us bigint not null, key_id uuid, user_id uuid, subject_id uuid, body json, errors json) partition by RANGE (id)
sandbox_email (org_id uuid not null, id uuid not null, message_id text not null, sender text not null, recipient text not null, raw bytea not null, received_at timestamp with time zone not null)
sandbox_hook (id uuid not null, name text not null, headers json not null, body bytea not null, signature text not null, standard text not null, received_at timestamp with time zone not null default now())
sandbox_mail (org_id uuid not null, id uuid not null, recipient text not null, subject text not null, body bytea not null, received_at timestamp with time zone not null default now())
sandbox_oauth (kind text not null, id text not null, seq bigint not null, body bytea not null)
sandbox_stripe (account text not null, kind text not null, id text not null, seq bigint not null, created bigint not null, marks text[] not null, timer text not null, due bigint not null, body json not null)
schedule_zone (org_id uuid not null, schedule bytea not null, zone text not null, body jsonb not null, opens_at timestamp with time zone not null, closes_at timestamp with time zone not null)
score_current (org_id uuid not null, number integer not null default 0, trained integer not null default 0, trained_at timestamp with time zone)
score_history (org_id uuid not null, contact_id uuid not null, recorded_at timestamp with time zone not null, score double precision not null, probability double precision not null, version text not null)
score_model (org_id uuid not null, number integer not null, created_at timestamp with time zone not null, promoted_at timestamp with time zone, learned_to timestamp with time zone not null, outcomes integer not null, model json not null, report json not null)
score_snapshot (org_id uuid not null, deal_id uuid not null, contact_id uuid not null, at timestamp with time zone not null, seen jsonb not null)
score_training (org_id uuid not null, id uuid not null, status text not null default 'queued'::text, created_at timestamp with time zone not null, completed_at timestamp with time zone)
sealing_key (id bigint not null, added_at timestamp with time zone not null default now(), promoted_at timestamp with time zone, retired_at timestamp with time zone)
segment (org_id uuid not null, id uuid not null, key text not null, name text not null, kind text not null, created_at timestamp with time zone not null, filter json, reads text[] not null default '{}'::text[], status text not null default 'ready'::text, generation integer not null default 0, quiet boolean not null default false, fresh boolean not null default false, built_shelf boolean not null default false, built_at timestamp with time zone, built_id uuid, counted bigint not null default 0, edit integer not null default 1, computed integer not null default 0, updated_at timestamp with time zone not null default now(), archived_at timestamp with time zone, folded text)
segment_entry (org_id uuid not null, id uuid not null, sequence_id uuid not null, segment_id uuid not null, contact_id uuid not null, due_at timestamp with time zone not null, created_at timestamp with time zone not null)
segment_mark (org_id uuid not null, id bigint not null, contact_id uuid not null)
segment_member (org_id uuid not null, segment_id uuid not null, archived boolean not null default false, created_at timestamp with time zone not null, contact_id uuid not null)
segment_tally (org_id uuid not null, segment_id uuid not null, id bigint not null, step bigint not null)
segment_watch (org_id uuid not null, watching boolean not null default false, epoch integer not null default 0, waits_for text[])
send_group (org_id uuid not null, id bigint not null, sequence_id uuid not null, mailbox_id uuid, schedule bytea not null, zone text not null, wake_at timestamp with time zone)
sending_domain (org_id uuid not null, id uuid not null, domain text not null, status text not null, spf text not null default 'unknown'::text, dmarc text not null default 'unknown'::text, failures integer not null default 0, created_at timestamp with time zone not null, verified_at timestamp with time zone, checked_at timestamp with time zone, next_check_at timestamp with time zone not null)
sending_key (org_id uuid not null, id uuid not null, domain_id uuid not null, selector text not null, sealed bytea not null, public_key text not null, found boolean not null default false, created_at timestamp with time zone not null)
sequence (org_id uuid not null, id uuid not null, name text not null, name_folded text not null, status text not null, status_reason text not null default ''::text, version integer, draft integer, latest integer not null, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1, enroll_segment uuid)
sequence_step (org_id uuid not null, sequence_id uuid not null, version integer not null, position integer not null, key text not null, kind text not null, body json not null)
sequence_version (org_id uuid not null, sequence_id uuid not null, number integer not null, settings json not null, created_at timestamp with time zone not null, activated_at timestamp with time zone)
signing_key (kid text not null, public bytea not null, private bytea not null, created_at timestamp with time zone not null default now(), use_at timestamp with time zone not null)
social_account (org_id uuid not null, id uuid not null, platform text not null, kind text not null, external_account_id text not null, grant_id uuid not null, display_name text not null default ''::text, avatar_url text not null default ''::text, sealed_token bytea, key_id bigint default sealed_key(sealed_token), status text not null default 'active'::text, reason text not null default ''::text, connected_by text not null default ''::text, connected_at timestamp with time zone not null, disconnected_at timestamp with time zone, created_at timestamp with time zone not null default now(), updated_at timestamp with time zone not null default now(), edit integer not null default 1, computed integer not null default 0, no_social boolean default 
CASE
    WHEN ((kind = 'social'::text) AND (disconnected_at IS NULL)) THEN NULL::boolean
    ELSE true
END, no_ads boolean default 
CASE
    WHEN ((kind = 'ads'::text) AND (disconnected_at IS NULL)) THEN NULL::boolean
    ELSE true
END)
social_budget (family text not null, client_id text not null, next_at timestamp with time zone not null default '-infinity'::timestamp with time zone, claim_at timestamp with time zone not null default '-infinity'::timestamp with time zone)
social_grant (org_id uuid not null, id uuid not null, platform text not null, kind text not null, client_id text not null, subject_id text not null, sealed_access bytea, sealed_refresh bytea, key_id bigint default 
CASE
    WHEN (sealed_access IS NULL) THEN sealed_key(sealed_refresh)
    WHEN ((sealed_refresh IS NULL) OR (sealed_key(sealed_access) = sealed_key(sealed_refresh))) THEN sealed_key(sealed_access)
    ELSE (0)::bigint
END, scopes text[] not null default '{}'::text[], granted_at timestamp with time zone not null, issued_at timestamp with time zone not null, access_expires_at timestamp with time zone, refresh_expires_at timestamp with time zone, refresh_at timestamp with time zone, version bigint not null default 1, attempt_state text, attempt_at timestamp with time zone, attempt_token_hash bytea, status text not null default 'active'::text, reason text not null default ''::text, fail_count integer not null default 0, announced_at timestamp with time zone, created_at timestamp with time zone not null default now(), updated_at timestamp with time zone not null default now(), warned_days integer not null default 0)
social_hold (platform text not null, client_id text not null, held_until timestamp with time zone not null, cause text not null, code text not null default ''::text, since timestamp with time zone not null default now())
social_notice (id uuid not null, act text not null, platform text not null, client_id text not null, subject_id text not null, code text not null, issued_at timestamp with time zone not null, received_at timestamp with time zone not null default now(), done_at timestamp with time zone)
social_pending (org_id uuid not null, id uuid not null, platform text not null, kind text not null, client_id text not null, subject_id text not null default ''::text, actor_type text not null, actor_id uuid not null, account_id uuid, sealed bytea, accounts jsonb, scopes text[] not null default '{}'::text[], granted_at timestamp with time zone not null, expires_at timestamp with time zone not null, discarded_at timestamp with time zone)
staff_access (org_id uuid not null, id uuid not null, user_id uuid not null, parent_org_id uuid not null, role text not null, created_at timestamp with time zone not null default now(), expires_at timestamp with time zone not null, ended_at timestamp with time zone, session_id uuid)
stripe_event (org_id uuid not null, id text not null, connect boolean not null, account text not null, type text not null, customer text not null, object_id text not null, created_at timestamp with time zone not null, received_at timestamp with time zone not null default now(), source text not null, payload json not null, worked_at timestamp with time zone, outcome text not null default ''::text)
stripe_subscription (org_id uuid not null, stripe_id text not null, live boolean not null, status text not null, plan text not null, interval text not null, price_id text not null, item_id text not null, quantity bigint not null, overage_item_id text not null, overage_price_id text not null, overage_quantity bigint not null, period_start timestamp with time zone not null, period_end timestamp with time zone not null, cancel_at_period_end boolean not null, schedule_id text not null, pending_until timestamp with time zone, invoice_id text not null, read_at timestamp with time zone not null)
subscription (org_id uuid not null, plan text not null default 'trial'::text, plan_version text not null default ''::text, interval text, status text not null default 'trialing'::text, cancel_at_period_end boolean not null default false, current_period_start timestamp with time zone, current_period_end timestamp with time zone, trial_ends_at timestamp with time zone, past_due_since timestamp with time zone, stripe_customer_id text, stripe_subscription_id text, stripe_item_id text, stripe_overage_item_id text, quantity integer not null default 1, entitlement_version bigint not null default 1, created_at timestamp with time zone not null default now(), updated_at timestamp with time zone not null default now())
suppression (org_id uuid not null, id uuid not null, kind text not null, hash bytea not null, address text, purpose text not null, reason text not null, source text not null default ''::text, note text not null default ''::text, created_at timestamp with time zone not null, created_by text not null default ''::text, lifted_at timestamp with time zone, lift_reason text not null default ''::text, lifted_by text not null default ''::text)
suppression_import (org_id uuid not null, id uuid not null, status text not null, file_name text, columns jsonb not null default '[]'::jsonb, purpose text not null default ''::text, reason text not null default ''::text, blocks integer not null default 0, next_block integer not null default 0, rows_total integer not null default 0, rows_added integer not null default 0, rows_unchanged integer not null default 0, rows_failed integer not null default 0, error text, created_by text not null, link_key bytea not null, created_at timestamp with time zone not null, started_at timestamp with time zone, completed_at timestamp with time zone, computed integer not null default 0, rows_blank integer not null default 0, warnings_count integer not null default 0, strict boolean not null default false, source jsonb not null default '{}'::jsonb)
suppression_import_block (org_id uuid not null, import_id uuid not null, block integer not null, data bytea not null)
suppression_import_error (org_id uuid not null, import_id uuid not null, row integer not null, code text not null, detail text not null, cells bytea not null)
suppression_import_warning (org_id uuid not null, import_id uuid not null, number integer not null, row integer not null, col text, code text not null, detail text not null)
system_mail (org_id uuid not null, id uuid not null, recipient text not null, subject text not null, body bytea, created_at timestamp with time zone not null default now(), sent_at timestamp with time zone)
task (org_id uuid not null, id uuid not null, title text not null, description text, status text not null, priority text not null, due_at timestamp with time zone, due_order timestamp with time zone not null default COALESCE(due_at, 'infinity'::timestamp with time zone), assignee_id uuid, contact_id uuid, company_id uuid, deal_id uuid, completed_at timestamp with time zone, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1, external_ids jsonb not null default '{}'::jsonb)
template (org_id uuid not null, id uuid not null, name text not null, name_folded text not null, subject text not null, html text, text text, blocks json, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1)
thread (org_id uuid not null, id uuid not null, mailbox_id uuid not null, contact_id uuid, subject text not null, incoming integer not null, unread boolean not null, last_message_at timestamp with time zone not null, created_at timestamp with time zone not null, edit integer not null default 1, computed integer not null default 0)
tick (entry text not null, tick timestamp with time zone not null, made_at timestamp with time zone not null default now())
timeline (org_id uuid not null, contact_id uuid not null, id uuid not null, type text not null, actor_type text not null, actor_id text not null default ''::text, object_id uuid, data json not null, at timestamp with time zone not null)
user_token (hash bytea not null, user_id uuid not null, purpose text not null, created_at timestamp with time zone not null default now(), expires_at timestamp with time zone not null)
user_view (org_id uuid not null, user_id uuid not null, key text not null, value json not null, updated_at timestamp with time zone not null)
variant_comparison (org_id uuid not null, sequence_id uuid not null, step text not null, check_at timestamp with time zone, stopped jsonb not null default '{}'::jsonb)
vocabulary (org_id uuid not null, kind text not null, folded text not null, name text not null, former text[] not null default '{}'::text[], successor text not null default ''::text, created_at timestamp with time zone not null)
webhook_attempt (org_id uuid not null, id uuid not null, delivery_id uuid not null, number integer not null, trigger text not null, request_headers json not null, status integer, answer bytea not null default '\x'::bytea, answer_cut boolean not null default false, location text not null default ''::text, error_class text not null default ''::text, error text not null default ''::text, dns_us bigint not null default 0, connect_us bigint not null default 0, tls_us bigint not null default 0, first_byte_us bigint not null default 0, total_us bigint not null default 0, remote_addr text not null default ''::text, started_at timestamp with time zone not null) partition by RANGE (id)
webhook_delivery (org_id uuid not null, id uuid not null, endpoint_id uuid not null, event_id uuid not null, event_type text not null, trigger text not null default 'event'::text, body json, status text not null default 'pending'::text, attempts integer not null default 0, last_status integer, last_error text not null default ''::text, next_attempt_at timestamp with time zone, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, replay_id uuid, attempt_id uuid, request_headers json, answer bytea, answer_cut boolean, dns_us integer, connect_us integer, tls_us integer, first_byte_us integer, total_us integer, remote_addr text, started_at timestamp with time zone, indexed_status text not null default 
CASE
    WHEN ((status = 'delivered'::text) OR ((status = 'pending'::text) AND (trigger = 'event'::text))) THEN ''::text
    ELSE status
END, traceparent text default NULLIF(current_setting('app.traceparent'::text, true), ''::text)) partition by RANGE (id)
webhook_endpoint (org_id uuid not null, id uuid not null, url text not null, description text not null default ''::text, events text[] not null, rate_limit integer, enabled boolean not null default true, disabled_reason text not null default ''::text, secret bytea not null, previous_secret bytea, previous_until timestamp with time zone, failing_since timestamp with time zone, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, archived_at timestamp with time zone, edit integer not null default 1, computed integer not null default 0)
webhook_health (org_id uuid not null, endpoint_id uuid not null, failing_since timestamp with time zone, failed_events integer not null default 0, streak integer not null default 0, streak_from timestamp with time zone, opened_at timestamp with time zone, next_probe_at timestamp with time zone, warned integer not null default 0)
webhook_replay (org_id uuid not null, id uuid not null, endpoint_id uuid not null, from_at timestamp with time zone not null, to_at timestamp with time zone not null, types text[] not null, only_failed boolean not null, to_disabled boolean not null, status text not null default 'queued'::text, events bigint not null, sent bigint not null default 0, walked uuid not null default '00000000-0000-0000-0000-000000000000'::uuid, created_at timestamp with time zone not null, updated_at timestamp with time zone not null, completed_at timestamp with time zone)
word_index (org_id uuid not null, ready boolean not null default false, due boolean not null default true, building boolean not null default true, fence xid8, built_id uuid, first_block integer not null default 0, next_block integer not null default 0, built_blocks integer not null default 0)
word_index_mark (org_id uuid not null, id bigint not null, contact_id uuid not null)
word_index_page (org_id uuid not null, page smallint not null, block integer not null, data bytea not null)

-- constraints
ai_quota: ai_quota_pkey PRIMARY KEY (org_id, period)
ai_quota: ai_quota_reserved_check CHECK ((reserved >= 0))
ai_quota: ai_quota_told_check CHECK ((told = ANY (ARRAY[0, 80, 100])))
ai_reservation: ai_reservation_check CHECK (((state = 'open'::text) = (charged IS NULL)))
ai_reservation: ai_reservation_pkey PRIMARY KEY (org_id, id)
ai_reservation: ai_reservation_state_check CHECK ((state = ANY (ARRAY['open'::text, 'swept'::text, 'settled'::text])))
api_key: api_key_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
api_key: api_key_pkey PRIMARY KEY (org_id, id)
api_key: api_key_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text, 'owner'::text])))
app_user: app_user_email_folded_key UNIQUE (email_folded)
app_user: app_user_pkey PRIMARY KEY (id)
archive_day: archive_day_pkey PRIMARY KEY (name)
archive_part: archive_part_name_fkey FOREIGN KEY (name) REFERENCES archive_day(name) ON DELETE CASCADE
archive_part: archive_part_pkey PRIMARY KEY (name, part)
audit_log: audit_log_pkey PRIMARY KEY (org_id, id)
billing_customer: billing_customer_pkey PRIMARY KEY (org_id)
billing_customer: billing_customer_stripe_id_key UNIQUE (stripe_id)
billing_preview: billing_preview_pkey PRIMARY KEY (org_id, id)
billing_preview: billing_preview_timing_check CHECK ((timing = ANY (ARRAY['start'::text, 'now'::text, 'period_end'::text])))
billing_price: billing_price_interval_check CHECK (("interval" = ANY (ARRAY['month'::text, 'year'::text])))
billing_price: billing_price_kind_check CHECK ((kind = ANY (ARRAY['base'::text, 'overage'::text])))
billing_price: billing_price_pkey PRIMARY KEY (stripe_id)
billing_sync: billing_sync_pkey PRIMARY KEY (name)
brand: brand_brand_name_check CHECK (((length(brand_name) >= 1) AND (length(brand_name) <= 80)))
brand: brand_check CHECK ((num_nulls(color_primary, color_accent, color_background, color_text) = ANY (ARRAY[0, 4])))
brand: brand_check1 CHECK ((num_nulls(logo, logo_type, logo_digest, logo_width, logo_height) = ANY (ARRAY[0, 5])))
brand: brand_color_accent_check CHECK ((color_accent ~ '^#[0-9a-f]{6}$'::text))
brand: brand_color_background_check CHECK ((color_background ~ '^#[0-9a-f]{6}$'::text))
brand: brand_color_primary_check CHECK ((color_primary ~ '^#[0-9a-f]{6}$'::text))
brand: brand_color_text_check CHECK ((color_text ~ '^#[0-9a-f]{6}$'::text))
brand: brand_logo_digest_check CHECK ((logo_digest ~ '^[0-9a-f]{64}$'::text))
brand: brand_logo_height_check CHECK ((logo_height > 0))
brand: brand_logo_type_check CHECK ((logo_type = ANY (ARRAY['image/png'::text, 'image/jpeg'::text, 'image/svg+xml'::text])))
brand: brand_logo_width_check CHECK ((logo_width > 0))
brand: brand_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
brand: brand_pkey PRIMARY KEY (org_id)
brand: brand_support_email_check CHECK ((length(support_email) <= 254))
broadcast: broadcast_pkey PRIMARY KEY (org_id, id)
broadcast: broadcast_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'scheduled'::text, 'preparing'::text, 'sending'::text, 'paused'::text, 'sent'::text, 'cancelled'::text])))
broadcast_recipient: broadcast_recipient_pkey PRIMARY KEY (org_id, broadcast_id, contact_id)
client_org: client_org_id_fkey FOREIGN KEY (id) REFERENCES org(id)
client_org: client_org_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
client_org: client_org_pkey PRIMARY KEY (org_id, id)
client_org: quota_comes TRIGGER DEFERRABLE INITIALLY DEFERRED
client_org: quota_ends TRIGGER DEFERRABLE INITIALLY DEFERRED
client_org: quota_goes TRIGGER DEFERRABLE INITIALLY DEFERRED
client_org: quota_returns TRIGGER DEFERRABLE INITIALLY DEFERRED
company: company_pkey PRIMARY KEY (org_id, id)
company_word: company_word_pkey PRIMARY KEY (org_id, word, company_id)
connect_account: connect_account_check CHECK (((state = 'not_started'::text) = (stripe_id IS NULL)))
connect_account: connect_account_pkey PRIMARY KEY (org_id)
connect_account: connect_account_state_check CHECK ((state = ANY (ARRAY['not_started'::text, 'onboarding'::text, 'pending_review'::text, 'restricted'::text, 'enabled'::text, 'disconnected'::text])))
connect_account: connect_account_stripe_id_key UNIQUE (stripe_id)
connect_fee: connect_fee_check CHECK ((gross = ((net + application_fee) + stripe_fee)))
connect_fee: connect_fee_check1 CHECK ((((refunded >= 0) AND (refunded <= gross)) AND ((fee_refunded >= 0) AND (fee_refunded <= application_fee))))
connect_fee: connect_fee_pkey PRIMARY KEY (org_id, invoice_id)
connect_sale: connect_sale_amount_check CHECK ((amount > 0))
connect_sale: connect_sale_fee_bps_check CHECK (((fee_bps >= 0) AND (fee_bps <= 10000)))
connect_sale: connect_sale_fee_wanted_check CHECK (((fee_wanted >= 0) AND (fee_wanted <= 10000)))
connect_sale: connect_sale_interval_check CHECK (("interval" = ANY (ARRAY['month'::text, 'year'::text])))
connect_sale: connect_sale_pkey PRIMARY KEY (org_id, id)
connect_sale: connect_sale_state_check CHECK ((state = ANY (ARRAY['in_flight'::text, 'active'::text, 'ended'::text, 'failed'::text])))
consent_request: consent_request_pkey PRIMARY KEY (org_id, contact_id)
contact: contact_pkey PRIMARY KEY (org_id, id)
contact: quota_comes TRIGGER DEFERRABLE INITIALLY DEFERRED
contact: quota_ends TRIGGER DEFERRABLE INITIALLY DEFERRED
contact: quota_goes TRIGGER DEFERRABLE INITIALLY DEFERRED
contact: quota_returns TRIGGER DEFERRABLE INITIALLY DEFERRED
contact_attribute: contact_attribute_pkey PRIMARY KEY (org_id, contact_id, key)
contact_bulk: contact_bulk_pkey PRIMARY KEY (org_id, id)
contact_bulk: contact_bulk_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
contact_bulk_part: contact_bulk_part_pkey PRIMARY KEY (org_id, bulk_id, n)
contact_duplicate: contact_duplicate_pkey PRIMARY KEY (org_id, reason, n)
contact_duplicate: contact_duplicate_reason_check CHECK ((reason = ANY (ARRAY['email'::text, 'name_company'::text, 'phone'::text])))
contact_duplicate_search: contact_duplicate_search_pkey PRIMARY KEY (org_id)
contact_export: contact_export_format_check CHECK ((format = ANY (ARRAY['csv'::text, 'ndjson'::text, 'xlsx'::text])))
contact_export: contact_export_pkey PRIMARY KEY (org_id, id)
contact_export: contact_export_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text, 'expired'::text])))
contact_export_part: contact_export_part_pkey PRIMARY KEY (org_id, export_id, part)
contact_field: contact_field_pkey PRIMARY KEY (org_id, key)
contact_field: contact_field_type_check CHECK ((type = ANY (ARRAY['string'::text, 'number'::text, 'boolean'::text, 'date'::text])))
contact_import: contact_import_pkey PRIMARY KEY (org_id, id)
contact_import: contact_import_status_check CHECK ((status = ANY (ARRAY['uploading'::text, 'queued'::text, 'running'::text, 'completed'::text, 'failed'::text])))
contact_import: contact_import_undo_status_check CHECK ((undo_status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'failed'::text])))
contact_import_block: contact_import_block_pkey PRIMARY KEY (org_id, import_id, block)
contact_import_effect: contact_import_effect_act_check CHECK ((act = ANY (ARRAY['created'::text, 'updated'::text, 'unchanged'::text])))
contact_import_effect: contact_import_effect_pkey PRIMARY KEY (org_id, import_id, contact_id)
contact_import_error: contact_import_error_pkey PRIMARY KEY (org_id, import_id, "row")
contact_import_warning: contact_import_warning_pkey PRIMARY KEY (org_id, import_id, number)
contact_merge: contact_merge_pkey PRIMARY KEY (org_id, id)
contact_merged: contact_merged_pkey PRIMARY KEY (org_id, survivor_id, contact_id)
contact_score: contact_score_confidence_check CHECK ((confidence = ANY (ARRAY['prior'::text, 'learning'::text, 'learned'::text])))
contact_score: contact_score_pkey PRIMARY KEY (org_id, contact_id)
contact_tag: contact_tag_pkey PRIMARY KEY (org_id, tag, archived, created_at, contact_id)
contact_word: contact_word_pkey PRIMARY KEY (org_id, word, contact_id)
day_count: day_count_pkey PRIMARY KEY (org_id, day)
day_deals: day_deals_pkey PRIMARY KEY (org_id, day, status, currency)
deal: deal_check CHECK (((closed_at IS NULL) = (status = 'open'::text)))
deal: deal_check1 CHECK (((lost_reason IS NULL) OR (status = 'lost'::text)))
deal: deal_pkey PRIMARY KEY (org_id, id)
deal: deal_stage_kind FOREIGN KEY (org_id, stage_id, pipeline_id, status) REFERENCES pipeline_stage(org_id, id, pipeline_id, kind)
deal_word: deal_word_pkey PRIMARY KEY (org_id, word, deal_id)
domain: domain_host_check CHECK ((host = lower(host)))
domain: domain_pkey PRIMARY KEY (org_id, id)
domain: domain_status_check CHECK ((status = ANY (ARRAY['pending_dns'::text, 'verified'::text, 'active'::text, 'degraded'::text, 'suspended'::text, 'removed'::text])))
domain: domain_use_check CHECK ((use = ANY (ARRAY['pages'::text, 'links'::text])))
domain_feed: domain_feed_one_check CHECK (one)
domain_feed: domain_feed_pkey PRIMARY KEY (one)
email: email_bounced_check CHECK ((bounced = ANY (ARRAY['hard'::text, 'soft'::text])))
email: email_pkey PRIMARY KEY (org_id, id)
email: email_purpose_check CHECK ((purpose = ANY (ARRAY['personal'::text, 'marketing'::text])))
email: email_status_check CHECK ((status = ANY (ARRAY['scheduled'::text, 'planned'::text, 'transmitting'::text, 'sent'::text, 'unknown'::text, 'failed'::text, 'cancelled'::text])))
email_attachment: email_attachment_pkey PRIMARY KEY (org_id, email_id, n)
email_content: email_content_pkey PRIMARY KEY (org_id, email_id)
email_fact: email_fact_kind_check CHECK ((kind = ANY (ARRAY['opened'::text, 'clicked'::text, 'replied'::text])))
email_fact: email_fact_pkey PRIMARY KEY (org_id, id)
email_hit: email_hit_pkey PRIMARY KEY (org_id, id)
email_link: email_link_pkey PRIMARY KEY (org_id, email_id, n)
email_month: email_month_pkey PRIMARY KEY (org_id, period, slot)
email_month: email_month_told_check CHECK ((told = ANY (ARRAY[0, 80, 100])))
enrolment: enrolment_check CHECK (((due_at IS NULL) OR (state = ANY (ARRAY['pending'::text, 'active'::text]))))
enrolment: enrolment_pkey PRIMARY KEY (org_id, id)
enrolment: enrolment_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'active'::text, 'sending'::text, 'paused'::text, 'finished'::text, 'replied'::text, 'unsubscribed'::text, 'bounced'::text, 'goal_met'::text, 'failed'::text, 'removed'::text])))
enrolment_batch: enrolment_batch_pkey PRIMARY KEY (org_id, id)
enrolment_batch: enrolment_batch_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'cancelled'::text, 'failed'::text])))
enrolment_history: enrolment_history_pkey PRIMARY KEY (org_id, enrolment_id, id)
enrolment_move: enrolment_move_pkey PRIMARY KEY (org_id, id)
enrolment_move: enrolment_move_status_check CHECK ((status = ANY (ARRAY['running'::text, 'completed'::text, 'failed'::text])))
enrolment_result: enrolment_result_pkey PRIMARY KEY (org_id, batch_id, contact_id)
event: event_pkey PRIMARY KEY (org_id, id)
event_horizon_row: event_horizon_row_pkey PRIMARY KEY (xid)
external_id: external_id_kind_check CHECK ((kind = ANY (ARRAY['contact'::text, 'company'::text, 'deal'::text, 'note'::text, 'task'::text])))
external_id: external_id_pkey PRIMARY KEY (org_id, kind, system, value, record_id)
idempotency_key: idempotency_key_pkey PRIMARY KEY (org_id, key)
installation: installation_one_check CHECK (one)
installation: installation_pkey PRIMARY KEY (one)
invitation: invitation_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
invitation: invitation_pkey PRIMARY KEY (org_id, id)
invitation: invitation_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text, 'owner'::text])))
invitation: quota_comes TRIGGER DEFERRABLE INITIALLY DEFERRED
invitation: quota_ends TRIGGER DEFERRABLE INITIALLY DEFERRED
invitation: quota_goes TRIGGER DEFERRABLE INITIALLY DEFERRED
invitation: quota_returns TRIGGER DEFERRABLE INITIALLY DEFERRED
invitation_count: invitation_count_pkey PRIMARY KEY (org_id, id)
invitation_mail: invitation_mail_pkey PRIMARY KEY (address, sent_at)
job: job_pkey PRIMARY KEY (org_id, id)
job: job_state_check CHECK ((state = ANY (ARRAY['ready'::text, 'dead'::text])))
job_act: job_act_pkey PRIMARY KEY (id)
job_death: job_death_pkey PRIMARY KEY (org_id, id)
job_floor: job_floor_pkey PRIMARY KEY (at)
job_lane: job_lane_pkey PRIMARY KEY (lane)
job_line: job_line_pkey PRIMARY KEY (org_id, id)
job_line: job_line_rate_check CHECK ((rate > 0))
job_line: job_line_slots_check CHECK ((slots > 0))
job_pause: job_pause_pkey PRIMARY KEY (scope, name)
job_pause: job_pause_scope_check CHECK ((scope = ANY (ARRAY['lane'::text, 'kind'::text, 'org'::text])))
job_redrive: job_redrive_pkey PRIMARY KEY (id)
job_redrive: job_redrive_rate_check CHECK ((rate > 0))
job_weight: job_weight_pkey PRIMARY KEY (org_id)
job_weight: job_weight_weight_check CHECK (((weight >= 1) AND (weight <= 100)))
mailbox: mailbox_check CHECK ((gap_max >= gap_min))
mailbox: mailbox_daily_cap_check CHECK (((daily_cap >= 1) AND (daily_cap <= 10000)))
mailbox: mailbox_gap_min_check CHECK ((gap_min >= 0))
mailbox: mailbox_imap_tls_check CHECK ((imap_tls = ANY (ARRAY['tls'::text, 'starttls'::text, 'none'::text])))
mailbox: mailbox_kind_check CHECK ((kind = ANY (ARRAY['smtp'::text, 'google'::text, 'microsoft'::text, 'sandbox'::text])))
mailbox: mailbox_pkey PRIMARY KEY (org_id, id)
mailbox: mailbox_rate_per_second_check CHECK ((rate_per_second >= 1))
mailbox: mailbox_smtp_tls_check CHECK ((smtp_tls = ANY (ARRAY['tls'::text, 'starttls'::text, 'none'::text])))
mailbox: mailbox_status_check CHECK ((status = ANY (ARRAY['unverified'::text, 'active'::text, 'held'::text, 'disabled'::text])))
mailbox: quota_mailboxes_comes TRIGGER DEFERRABLE INITIALLY DEFERRED
mailbox: quota_mailboxes_ends TRIGGER DEFERRABLE INITIALLY DEFERRED
mailbox: quota_mailboxes_goes TRIGGER DEFERRABLE INITIALLY DEFERRED
mailbox: quota_mailboxes_returns TRIGGER DEFERRABLE INITIALLY DEFERRED
mailbox_folder: mailbox_folder_pkey PRIMARY KEY (org_id, mailbox_id, folder)
mailbox_provider: mailbox_provider_pkey PRIMARY KEY (org_id, id)
mailbox_provider: mailbox_provider_provider_check CHECK ((provider = ANY (ARRAY['ses'::text, 'postmark'::text, 'mailgun'::text, 'sendgrid'::text])))
mailbox_silence: mailbox_silence_pkey PRIMARY KEY (org_id, mailbox_id, server)
mailbox_silence: mailbox_silence_server_check CHECK ((server = ANY (ARRAY['smtp'::text, 'imap'::text])))
member: member_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
member: member_pkey PRIMARY KEY (org_id, user_id)
member: member_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text, 'owner'::text])))
member: member_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(id)
member: quota_comes TRIGGER DEFERRABLE INITIALLY DEFERRED
member: quota_ends TRIGGER DEFERRABLE INITIALLY DEFERRED
member: quota_goes TRIGGER DEFERRABLE INITIALLY DEFERRED
member: quota_returns TRIGGER DEFERRABLE INITIALLY DEFERRED
message: message_pkey PRIMARY KEY (org_id, id)
message_raw: message_raw_pkey PRIMARY KEY (org_id, id)
note: note_check CHECK (((contact_id IS NOT NULL) OR (company_id IS NOT NULL) OR (deal_id IS NOT NULL)))
note: note_pkey PRIMARY KEY (org_id, id)
oauth_state: oauth_state_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'api_key'::text])))
oauth_state: oauth_state_kind_check CHECK ((kind = ANY (ARRAY['social'::text, 'ads'::text])))
oauth_state: oauth_state_pkey PRIMARY KEY (org_id, hash)
org: org_level UNIQUE (id, level)
org: org_parent FOREIGN KEY (parent_org_id, parent_level) REFERENCES org(id, level)
org: org_pkey PRIMARY KEY (id)
org_key: org_key_pkey PRIMARY KEY (org_id)
org_sending: org_sending_daily_cap_check CHECK ((daily_cap > 0))
org_sending: org_sending_default_purpose_check CHECK ((default_purpose = ANY (ARRAY['personal'::text, 'marketing'::text])))
org_sending: org_sending_domain_daily_cap_check CHECK ((domain_daily_cap > 0))
org_sending: org_sending_pkey PRIMARY KEY (org_id)
outreach_count: outreach_count_pkey PRIMARY KEY (org_id, source_id, xid, step, variant)
outreach_delta: outreach_delta_pkey PRIMARY KEY (org_id, source_id, xid, id)
outreach_uncounted: outreach_uncounted_pkey PRIMARY KEY (org_id, source_id)
overview_state: overview_state_pkey PRIMARY KEY (org_id)
partitioned: partitioned_pkey PRIMARY KEY (name)
pipeline: pipeline_pkey PRIMARY KEY (org_id, id)
pipeline_stage: pipeline_stage_kind_check CHECK ((kind = ANY (ARRAY['open'::text, 'won'::text, 'lost'::text])))
pipeline_stage: pipeline_stage_org_id_id_pipeline_id_kind_key UNIQUE (org_id, id, pipeline_id, kind)
pipeline_stage: pipeline_stage_pkey PRIMARY KEY (org_id, id)
pipeline_stage: pipeline_stage_probability_check CHECK (((probability >= 0) AND (probability <= 100)))
plan_addon: plan_addon_pkey PRIMARY KEY (org_id, id)
plan_change: plan_change_kind_check CHECK ((kind = ANY (ARRAY['start'::text, 'now'::text, 'period_end'::text, 'cancel'::text])))
plan_change: plan_change_pkey PRIMARY KEY (org_id, id)
plan_change: plan_change_state_check CHECK ((state = ANY (ARRAY['in_flight'::text, 'action_required'::text, 'scheduled'::text, 'applied'::text, 'failed'::text, 'undone'::text])))
plan_change: plan_change_stripe_key_key UNIQUE (stripe_key)
plan_change_step: plan_change_step_pkey PRIMARY KEY (org_id, change_id, id)
plan_override: plan_override_pkey PRIMARY KEY (org_id, feature)
plan_override: plan_override_source_check CHECK ((source = ANY (ARRAY['override'::text, 'allocation'::text])))
process: process_pkey PRIMARY KEY (id)
provider_event: provider_event_pkey PRIMARY KEY (org_id, mailbox_id, identity)
quota: quota_pkey PRIMARY KEY (org_id, feature)
quota: quota_told_check CHECK ((told = ANY (ARRAY[0, 80, 100])))
quota_source: quota_source_pkey PRIMARY KEY (feature, relation)
refolding: refolding_pkey PRIMARY KEY (org_id)
refresh_token: refresh_token_client_check CHECK ((client = ANY (ARRAY[''::text, 'console'::text])))
refresh_token: refresh_token_pkey PRIMARY KEY (org_id, id)
request_log: request_log_pkey PRIMARY KEY (org_id, id)
sandbox_email: sandbox_email_pkey PRIMARY KEY (org_id, id)
sandbox_hook: sandbox_hook_pkey PRIMARY KEY (id)
sandbox_hook: sandbox_hook_signature_check CHECK ((signature = ANY (ARRAY['valid'::text, 'invalid'::text, 'unknown_webhook'::text])))
sandbox_hook: sandbox_hook_standard_check CHECK ((standard = ANY (ARRAY['valid'::text, 'invalid'::text, 'unknown_webhook'::text])))
sandbox_mail: sandbox_mail_pkey PRIMARY KEY (org_id, id)
sandbox_oauth: sandbox_oauth_pkey PRIMARY KEY (kind, id)
sandbox_stripe: sandbox_stripe_pkey PRIMARY KEY (account, kind, id)
schedule_zone: schedule_zone_pkey PRIMARY KEY (org_id, schedule, zone)
score_current: score_current_pkey PRIMARY KEY (org_id)
score_history: score_history_pkey PRIMARY KEY (org_id, contact_id, recorded_at)
score_model: score_model_pkey PRIMARY KEY (org_id, number)
score_snapshot: score_snapshot_pkey PRIMARY KEY (org_id, deal_id)
score_training: score_training_pkey PRIMARY KEY (org_id, id)
score_training: score_training_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'completed'::text, 'failed'::text])))
sealing_key: sealing_key_pkey PRIMARY KEY (id)
segment: segment_filter CHECK (((kind = 'dynamic'::text) = (filter IS NOT NULL)))
segment: segment_kind_check CHECK ((kind = ANY (ARRAY['static'::text, 'dynamic'::text])))
segment: segment_pkey PRIMARY KEY (org_id, id)
segment: segment_status_check CHECK ((status = ANY (ARRAY['building'::text, 'ready'::text])))
segment_entry: segment_entry_pkey PRIMARY KEY (org_id, id)
segment_mark: segment_mark_pkey PRIMARY KEY (org_id, id)
segment_member: segment_member_pkey PRIMARY KEY (org_id, segment_id, archived, created_at, contact_id)
segment_tally: segment_tally_pkey PRIMARY KEY (org_id, segment_id, id)
segment_watch: segment_watch_pkey PRIMARY KEY (org_id)
send_group: send_group_pkey PRIMARY KEY (org_id, id)
sending_domain: sending_domain_pkey PRIMARY KEY (org_id, id)
sending_domain: sending_domain_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'verified'::text, 'failed'::text])))
sending_key: sending_key_pkey PRIMARY KEY (org_id, id)
sequence: sequence_pkey PRIMARY KEY (org_id, id)
sequence: sequence_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'paused'::text, 'archived'::text])))
sequence_step: sequence_step_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'wait'::text, 'task'::text, 'condition'::text, 'update'::text, 'webhook'::text])))
sequence_step: sequence_step_pkey PRIMARY KEY (org_id, sequence_id, version, "position")
sequence_version: sequence_version_pkey PRIMARY KEY (org_id, sequence_id, number)
signing_key: signing_key_pkey PRIMARY KEY (kid)
social_account: quota_ad_accounts_comes TRIGGER DEFERRABLE INITIALLY DEFERRED
social_account: quota_ad_accounts_ends TRIGGER DEFERRABLE INITIALLY DEFERRED
social_account: quota_ad_accounts_goes TRIGGER DEFERRABLE INITIALLY DEFERRED
social_account: quota_ad_accounts_returns TRIGGER DEFERRABLE INITIALLY DEFERRED
social_account: quota_social_accounts_comes TRIGGER DEFERRABLE INITIALLY DEFERRED
social_account: quota_social_accounts_ends TRIGGER DEFERRABLE INITIALLY DEFERRED
social_account: quota_social_accounts_goes TRIGGER DEFERRABLE INITIALLY DEFERRED
social_account: quota_social_accounts_returns TRIGGER DEFERRABLE INITIALLY DEFERRED
social_account: social_account_kind_check CHECK ((kind = ANY (ARRAY['social'::text, 'ads'::text])))
social_account: social_account_org_id_grant_id_fkey FOREIGN KEY (org_id, grant_id) REFERENCES social_grant(org_id, id)
social_account: social_account_org_id_platform_external_account_id_key UNIQUE (org_id, platform, external_account_id)
social_account: social_account_pkey PRIMARY KEY (org_id, id)
social_account: social_account_status_check CHECK ((status = ANY (ARRAY['active'::text, 'reauth_required'::text, 'revoked'::text])))
social_budget: social_budget_pkey PRIMARY KEY (family, client_id)
social_grant: social_grant_attempt_state_check CHECK ((attempt_state = ANY (ARRAY['intent'::text, 'spooled'::text])))
social_grant: social_grant_kind_check CHECK ((kind = ANY (ARRAY['social'::text, 'ads'::text])))
social_grant: social_grant_pkey PRIMARY KEY (org_id, id)
social_grant: social_grant_status_check CHECK ((status = ANY (ARRAY['active'::text, 'expiring'::text, 'reauth_required'::text, 'revoked'::text])))
social_hold: social_hold_cause_check CHECK ((cause = ANY (ARRAY['throttled'::text, 'misconfigured'::text])))
social_hold: social_hold_pkey PRIMARY KEY (platform, client_id)
social_notice: social_notice_act_check CHECK ((act = ANY (ARRAY['deauthorize'::text, 'erase'::text])))
social_notice: social_notice_code_key UNIQUE (code)
social_notice: social_notice_pkey PRIMARY KEY (id)
social_pending: social_pending_kind_check CHECK ((kind = ANY (ARRAY['social'::text, 'ads'::text])))
social_pending: social_pending_pkey PRIMARY KEY (org_id, id)
staff_access: staff_access_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
staff_access: staff_access_pkey PRIMARY KEY (org_id, id)
staff_access: staff_access_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text, 'admin'::text])))
stripe_event: stripe_event_id_key UNIQUE (id)
stripe_event: stripe_event_pkey PRIMARY KEY (org_id, id)
stripe_event: stripe_event_source_check CHECK ((source = ANY (ARRAY['webhook'::text, 'sync'::text])))
stripe_subscription: stripe_subscription_pkey PRIMARY KEY (org_id, stripe_id)
stripe_subscription: stripe_subscription_stripe_id_key UNIQUE (stripe_id)
subscription: subscription_interval_check CHECK (("interval" = ANY (ARRAY['month'::text, 'year'::text])))
subscription: subscription_org_id_fkey FOREIGN KEY (org_id) REFERENCES org(id)
subscription: subscription_pkey PRIMARY KEY (org_id)
subscription: subscription_status_check CHECK ((status = ANY (ARRAY['trialing'::text, 'active'::text, 'past_due'::text, 'incomplete'::text, 'unpaid'::text, 'canceled'::text, 'paused'::text])))
suppression: suppression_kind_check CHECK ((kind = ANY (ARRAY['email'::text, 'domain'::text])))
suppression: suppression_pkey PRIMARY KEY (org_id, id)
suppression: suppression_purpose_check CHECK ((purpose = ANY (ARRAY['marketing'::text, 'all'::text])))
suppression_import: suppression_import_pkey PRIMARY KEY (org_id, id)
suppression_import: suppression_import_status_check CHECK ((status = ANY (ARRAY['uploading'::text, 'queued'::text, 'running'::text, 'completed'::text, 'failed'::text])))
suppression_import_block: suppression_import_block_pkey PRIMARY KEY (org_id, import_id, block)
suppression_import_error: suppression_import_error_pkey PRIMARY KEY (org_id, import_id, "row")
suppression_import_warning: suppression_import_warning_pkey PRIMARY KEY (org_id, import_id, number)
system_mail: system_mail_pkey PRIMARY KEY (org_id, id)
task: task_check CHECK (((completed_at IS NOT NULL) = (status = 'done'::text)))
task: task_pkey PRIMARY KEY (org_id, id)
task: task_priority_check CHECK ((priority = ANY (ARRAY['low'::text, 'normal'::text, 'high'::text])))
task: task_status_check CHECK ((status = ANY (ARRAY['open'::text, 'done'::text])))
template: template_pkey PRIMARY KEY (org_id, id)
thread: thread_pkey PRIMARY KEY (org_id, id)
tick: tick_pkey PRIMARY KEY (entry, tick)
timeline: timeline_pkey PRIMARY KEY (org_id, contact_id, id)
user_token: user_token_pkey PRIMARY KEY (hash)
user_token: user_token_purpose_check CHECK ((purpose = ANY (ARRAY['reset_password'::text, 'verify_email'::text])))
user_token: user_token_user_id_fkey FOREIGN KEY (user_id) REFERENCES app_user(id)
user_view: user_view_pkey PRIMARY KEY (org_id, user_id, key)
variant_comparison: variant_comparison_pkey PRIMARY KEY (org_id, sequence_id, step)
vocabulary: vocabulary_kind_check CHECK ((kind = ANY (ARRAY['tag'::text, 'stage'::text])))
vocabulary: vocabulary_pkey PRIMARY KEY (org_id, kind, folded)
webhook_attempt: webhook_attempt_pkey PRIMARY KEY (org_id, id)
webhook_delivery: webhook_delivery_pkey PRIMARY KEY (org_id, id)
webhook_delivery: webhook_delivery_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'exhausted'::text, 'discarded'::text])))
webhook_delivery: webhook_delivery_trigger_check CHECK ((trigger = ANY (ARRAY['event'::text, 'test'::text, 'redelivery'::text, 'replay'::text])))
webhook_endpoint: quota_comes TRIGGER DEFERRABLE INITIALLY DEFERRED
webhook_endpoint: quota_ends TRIGGER DEFERRABLE INITIALLY DEFERRED
webhook_endpoint: quota_goes TRIGGER DEFERRABLE INITIALLY DEFERRED
webhook_endpoint: quota_returns TRIGGER DEFERRABLE INITIALLY DEFERRED
webhook_endpoint: webhook_endpoint_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY[''::text, 'gone'::text, 'failing'::text])))
webhook_endpoint: webhook_endpoint_pkey PRIMARY KEY (org_id, id)
webhook_health: webhook_health_pkey PRIMARY KEY (org_id, endpoint_id)
webhook_replay: webhook_replay_pkey PRIMARY KEY (org_id, id)
webhook_replay: webhook_replay_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'completed'::text, 'stopped'::text])))
word_index: word_index_pkey PRIMARY KEY (org_id)
word_index_mark: word_index_mark_pkey PRIMARY KEY (org_id, id)
word_index_page: word_index_page_pkey PRIMARY KEY (org_id, page, block)

-- indexes
CREATE INDEX ai_reservation_open ON public.ai_reservation USING btree (expires_at) WHERE (state = 'open'::text)
CREATE INDEX ai_reservation_period ON public.ai_reservation USING btree (org_id, period, operation)
CREATE INDEX audit_log_action ON public.audit_log USING btree (org_id, action, id)
CREATE INDEX audit_log_actor ON public.audit_log USING btree (org_id, actor_id, id)
CREATE INDEX audit_log_target ON public.audit_log USING btree (org_id, target_id, id)
CREATE INDEX billing_preview_age ON public.billing_preview USING btree (expires_at)
CREATE INDEX brand_logo ON public.brand USING btree (logo_digest) WHERE (logo_digest IS NOT NULL)
CREATE INDEX broadcast_archived ON public.broadcast USING btree (org_id, created_at, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX broadcast_created ON public.broadcast USING btree (org_id, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX broadcast_recipient_age ON public.broadcast_recipient USING btree (created_at)
CREATE INDEX broadcast_recipient_contact ON public.broadcast_recipient USING btree (org_id, contact_id)
CREATE INDEX broadcast_recipient_due ON public.broadcast_recipient USING btree (org_id, broadcast_id, due_at, contact_id) WHERE (NOT written)
CREATE INDEX company_archived_created ON public.company USING btree (org_id, created_at, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX company_archived_name ON public.company USING btree (org_id, name_folded, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX company_created ON public.company USING btree (org_id, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX company_name ON public.company USING btree (org_id, name_folded, id) WHERE (archived_at IS NULL)
CREATE INDEX company_owner ON public.company USING btree (org_id, owner_id, created_at, id) WHERE ((owner_id IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX connect_account_begun ON public.connect_account USING btree (keyed_at) WHERE (stripe_id IS NULL)
CREATE INDEX connect_fee_paid ON public.connect_fee USING btree (org_id, paid_at DESC, invoice_id DESC)
CREATE INDEX connect_sale_live ON public.connect_sale USING btree (org_id) WHERE (state = ANY (ARRAY['in_flight'::text, 'active'::text]))
CREATE INDEX consent_request_age ON public.consent_request USING btree (since)
CREATE INDEX contact_archived_created ON public.contact USING btree (org_id, created_at, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX contact_archived_email ON public.contact USING btree (org_id, email_folded, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX contact_archived_last_name ON public.contact USING btree (org_id, last_name_folded, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX contact_attribute_flag ON public.contact_attribute USING btree (org_id, key, archived, flag, created_at, contact_id) WHERE (flag IS NOT NULL)
CREATE INDEX contact_attribute_number ON public.contact_attribute USING btree (org_id, key, archived, number, created_at, contact_id) WHERE (number IS NOT NULL)
CREATE INDEX contact_attribute_text ON public.contact_attribute USING btree (org_id, key, archived, text, created_at, contact_id) WHERE (text IS NOT NULL)
CREATE INDEX contact_bulk_open ON public.contact_bulk USING btree (org_id, id) WHERE (completed_at IS NULL)
CREATE INDEX contact_company ON public.contact USING btree (org_id, company_id, created_at, id) WHERE ((company_id IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX contact_country ON public.contact USING btree (org_id, country_folded, created_at, id) WHERE ((country_folded IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX contact_created ON public.contact USING btree (org_id, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX contact_email_order ON public.contact USING btree (org_id, email_folded, id) WHERE (archived_at IS NULL)
CREATE INDEX contact_export_age ON public.contact_export USING btree (created_at)
CREATE INDEX contact_export_expires ON public.contact_export USING btree (expires_at) WHERE (status <> 'expired'::text)
CREATE INDEX contact_first_name ON public.contact USING btree (org_id, first_name_folded, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX contact_import_age ON public.contact_import USING btree (created_at)
CREATE INDEX contact_import_effect_dry ON public.contact_import_effect USING btree (org_id, import_id, email_folded) WHERE (email_folded IS NOT NULL)
CREATE INDEX contact_job_title ON public.contact USING btree (org_id, job_title_folded, created_at, id) WHERE ((job_title_folded IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX contact_last_name ON public.contact USING btree (org_id, last_name_folded, id) WHERE (archived_at IS NULL)
CREATE INDEX contact_merge_old ON public.contact_merge USING btree (created_at) WHERE (undo IS NOT NULL)
CREATE INDEX contact_merge_survivor ON public.contact_merge USING btree (org_id, survivor_id, id)
CREATE INDEX contact_merged_loser ON public.contact_merged USING btree (org_id, contact_id)
CREATE INDEX contact_owner ON public.contact USING btree (org_id, owner_id, created_at, id) WHERE ((owner_id IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX contact_phone ON public.contact USING btree (org_id, phone_folded, created_at, id) WHERE ((phone_folded IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX contact_score_fades ON public.contact_score USING btree (fades_at, org_id) WHERE ((fades_at IS NOT NULL) AND (NOT archived))
CREATE INDEX contact_score_rank ON public.contact_score USING btree (org_id, archived, score, contact_id)
CREATE INDEX contact_score_stage ON public.contact_score USING btree (org_id, archived, stage, score, contact_id)
CREATE INDEX contact_score_unstaged ON public.contact_score USING btree (org_id) WHERE (stage IS NULL)
CREATE INDEX contact_source ON public.contact USING btree (org_id, source_folded, created_at, id) WHERE ((source_folded IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX contact_stage ON public.contact USING btree (org_id, stage, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX contact_tag_contact ON public.contact_tag USING btree (org_id, contact_id, tag)
CREATE INDEX contact_time_zone ON public.contact USING btree (org_id, time_zone_folded, created_at, id) WHERE ((time_zone_folded IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX contact_updated ON public.contact USING btree (org_id, updated_at, id) WHERE (archived_at IS NULL)
CREATE INDEX deal_amount ON public.deal USING btree (org_id, amount, id) WHERE (archived_at IS NULL)
CREATE INDEX deal_archived ON public.deal USING btree (org_id, created_at, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX deal_archived_amount ON public.deal USING btree (org_id, amount, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX deal_archived_expected ON public.deal USING btree (org_id, expected_order, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX deal_board ON public.deal USING btree (org_id, stage_id, "position", id) INCLUDE (currency, amount) WHERE (archived_at IS NULL)
CREATE INDEX deal_closed ON public.deal USING btree (org_id, closed_at, id) WHERE ((closed_at IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX deal_company ON public.deal USING btree (org_id, company_id, created_at, id) WHERE (company_id IS NOT NULL)
CREATE INDEX deal_contact ON public.deal USING btree (org_id, contact_id, created_at, id) WHERE (contact_id IS NOT NULL)
CREATE INDEX deal_created ON public.deal USING btree (org_id, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX deal_expected ON public.deal USING btree (org_id, expected_order, id) WHERE (archived_at IS NULL)
CREATE INDEX deal_owner ON public.deal USING btree (org_id, owner_id, created_at, id) WHERE ((owner_id IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX deal_owner_amount ON public.deal USING btree (org_id, owner_id, amount, id) WHERE ((owner_id IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX deal_owner_expected ON public.deal USING btree (org_id, owner_id, expected_order, id) WHERE ((owner_id IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX deal_pipeline ON public.deal USING btree (org_id, pipeline_id, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX deal_stage ON public.deal USING btree (org_id, stage_id, created_at, id)
CREATE INDEX deal_status ON public.deal USING btree (org_id, status, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX deal_status_amount ON public.deal USING btree (org_id, status, amount, id) WHERE (archived_at IS NULL)
CREATE INDEX deal_status_expected ON public.deal USING btree (org_id, status, expected_order, id) WHERE (archived_at IS NULL)
CREATE INDEX domain_changed ON public.domain USING btree (changed) WHERE (changed > 0)
CREATE INDEX domain_due ON public.domain USING btree (next_check_at) WHERE (status <> 'removed'::text)
CREATE INDEX email_broadcast ON public.email USING btree (org_id, broadcast_id, id) WHERE (broadcast_id IS NOT NULL)
CREATE INDEX email_broadcast_open ON public.email USING btree (org_id, broadcast_id) WHERE ((broadcast_id IS NOT NULL) AND (status = ANY (ARRAY['scheduled'::text, 'planned'::text, 'transmitting'::text])))
CREATE INDEX email_contact ON public.email USING btree (org_id, contact_id, id)
CREATE INDEX email_content_age ON public.email_content USING btree (created_at)
CREATE INDEX email_domain_marked ON public.email USING btree (org_id, to_domain, marked_at) WHERE (automated AND (marked_at IS NOT NULL))
CREATE INDEX email_enrolment ON public.email USING btree (org_id, enrolment_id, id) WHERE (enrolment_id IS NOT NULL)
CREATE INDEX email_fact_contact ON public.email_fact USING btree (org_id, contact_id, at) WHERE (contact_id IS NOT NULL)
CREATE INDEX email_fact_email ON public.email_fact USING btree (org_id, email_id, at)
CREATE INDEX email_hit_email ON public.email_hit USING btree (org_id, email_id, at)
CREATE INDEX email_hit_old ON public.email_hit USING btree (at) WHERE judged
CREATE INDEX email_hit_open ON public.email_hit USING btree (org_id, at) WHERE (NOT judged)
CREATE INDEX email_marked ON public.email USING btree (org_id, mailbox_id, marked_at) WHERE (marked_at IS NOT NULL)
CREATE INDEX email_month_age ON public.email_month USING btree (period)
CREATE INDEX email_open ON public.email USING btree (org_id, status, id) WHERE (status <> ALL (ARRAY['sent'::text, 'cancelled'::text]))
CREATE INDEX email_refused ON public.email USING btree (org_id, mailbox_id, refused_at) WHERE (refused_at IS NOT NULL)
CREATE INDEX email_sent ON public.email USING btree (org_id, sent_at, id) WHERE (sent_at IS NOT NULL)
CREATE INDEX email_server_id ON public.email USING btree (org_id, mailbox_id, server_id) WHERE (server_id <> ''::text)
CREATE INDEX email_thread ON public.email USING btree (org_id, thread_id, id)
CREATE INDEX enrolment_batch_age ON public.enrolment_batch USING btree (completed_at) WHERE (completed_at IS NOT NULL)
CREATE INDEX enrolment_contact ON public.enrolment USING btree (org_id, contact_id, id)
CREATE INDEX enrolment_due ON public.enrolment USING btree (org_id, grp, prio, due_at, id) WHERE (due_at IS NOT NULL)
CREATE INDEX enrolment_mailbox ON public.enrolment USING btree (org_id, mailbox_id, sequence_id) WHERE (ended_at IS NULL)
CREATE INDEX enrolment_move_age ON public.enrolment_move USING btree (completed_at) WHERE (completed_at IS NOT NULL)
CREATE INDEX enrolment_reason ON public.enrolment USING btree (org_id, sequence_id, reason, state, id, step) WHERE (reason <> ''::text)
CREATE INDEX enrolment_result_age ON public.enrolment_result USING btree (created_at)
CREATE INDEX enrolment_result_contact ON public.enrolment_result USING btree (org_id, contact_id)
CREATE INDEX enrolment_resume ON public.enrolment USING btree (org_id, grp, resume_at) WHERE (resume_at IS NOT NULL)
CREATE INDEX enrolment_sending ON public.enrolment USING btree (org_id, mailbox_id) WHERE (state = 'sending'::text)
CREATE INDEX enrolment_sequence ON public.enrolment USING btree (org_id, sequence_id, state, id)
CREATE INDEX enrolment_started ON public.enrolment USING btree (org_id, sequence_id, started_at) WHERE (started_at IS NOT NULL)
CREATE INDEX enrolment_step ON public.enrolment USING btree (org_id, sequence_id, step, state, id)
CREATE INDEX enrolment_task ON public.enrolment USING btree (org_id, task_id) WHERE (task_id IS NOT NULL)
CREATE INDEX enrolment_version ON public.enrolment USING btree (org_id, sequence_id, version, id) WHERE (ended_at IS NULL)
CREATE INDEX event_feed ON ONLY public.event USING btree (org_id, seq)
CREATE INDEX idempotency_key_age ON public.idempotency_key USING btree (created_at)
CREATE INDEX invitation_count_age ON public.invitation_count USING btree (created_at)
CREATE INDEX invitation_mail_age ON public.invitation_mail USING btree (sent_at)
CREATE INDEX job_dead_newest ON public.job USING btree (lane, id) WHERE (state = 'dead'::text)
CREATE INDEX job_death_error ON public.job_death USING gin (job_grams(error))
CREATE INDEX job_death_kind ON public.job_death USING btree (kind, died_at, id) INCLUDE (org_id, lane)
CREATE INDEX job_death_lane ON public.job_death USING btree (lane, died_at, id) INCLUDE (org_id, kind)
CREATE INDEX job_death_newest ON public.job_death USING btree (died_at, id) INCLUDE (org_id, kind, lane)
CREATE INDEX job_death_org ON public.job_death USING btree (org_id, died_at, id) INCLUDE (kind, lane)
CREATE INDEX job_death_org_kind ON public.job_death USING btree (org_id, kind, died_at, id) INCLUDE (lane)
CREATE INDEX job_delayed ON public.job USING btree (run_at) WHERE ((state = 'ready'::text) AND (wake_at IS NULL) AND (NOT due))
CREATE INDEX job_line_held ON public.job_line USING btree (held_until) WHERE (held_until IS NOT NULL)
CREATE INDEX job_slots ON public.job USING btree (lane, org_id, wake_at, line) WHERE ((state = 'ready'::text) AND (wake_at IS NOT NULL))
CREATE INDEX job_waiting ON public.job USING btree (lane, org_id, COALESCE(line, '00000000-0000-0000-0000-000000000000'::uuid), kind, run_at, id) WHERE ((state = 'ready'::text) AND (wake_at IS NULL) AND due)
CREATE INDEX job_waiting_lately ON public.job USING btree (lane, org_id, line, run_at) WHERE ((state = 'ready'::text) AND (wake_at IS NULL) AND due)
CREATE INDEX job_waiting_line ON public.job USING btree (lane, org_id, line) WHERE ((state = 'ready'::text) AND (wake_at IS NULL) AND due)
CREATE INDEX job_wake ON public.job USING btree (wake_at) WHERE (wake_at IS NOT NULL)
CREATE INDEX job_window ON public.job USING btree (lane, org_id, line) WITH (deduplicate_items=off) WHERE ((state = 'ready'::text) AND (wake_at IS NOT NULL))
CREATE INDEX mailbox_counted ON public.mailbox USING btree (COALESCE(health_at, '-infinity'::timestamp with time zone)) WHERE (archived_at IS NULL)
CREATE INDEX mailbox_domain ON public.mailbox USING btree (domain_checked_at) WHERE (archived_at IS NULL)
CREATE INDEX mailbox_domain_complete ON public.mailbox USING btree (COALESCE(domain_checked_at, '-infinity'::timestamp with time zone)) WHERE ((archived_at IS NULL) AND (kind <> 'sandbox'::text) AND (spf = 'pass'::text) AND (dkim = 'pass'::text) AND (dmarc = 'pass'::text))
CREATE INDEX mailbox_domain_other ON public.mailbox USING btree (COALESCE(domain_checked_at, '-infinity'::timestamp with time zone)) WHERE ((archived_at IS NULL) AND (kind <> 'sandbox'::text) AND (NOT ((spf = 'pass'::text) AND (dkim = 'pass'::text) AND (dmarc = 'pass'::text))))
CREATE INDEX mailbox_folder_due ON public.mailbox_folder USING btree (next_sync_at)
CREATE INDEX mailbox_health_due ON public.mailbox USING btree (health_at NULLS FIRST) WHERE (archived_at IS NULL)
CREATE INDEX mailbox_held ON public.mailbox USING btree (held_until) WHERE ((status = 'held'::text) AND (held_until IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX mailbox_slot ON public.mailbox USING btree (next_slot_at) WHERE (archived_at IS NULL)
CREATE INDEX member_user ON public.member USING btree (user_id)
CREATE INDEX message_age ON public.message USING btree (received_at)
CREATE INDEX message_any_mailbox ON public.message USING btree (org_id, identity)
CREATE INDEX message_contact ON public.message USING btree (org_id, contact_id, id)
CREATE INDEX message_email ON public.message USING btree (org_id, email_id) WHERE (email_id IS NOT NULL)
CREATE INDEX message_from ON public.message USING btree (org_id, from_folded)
CREATE INDEX message_raw_age ON public.message_raw USING btree (created_at)
CREATE INDEX message_thread ON public.message USING btree (org_id, thread_id, id)
CREATE INDEX note_archived ON public.note USING btree (org_id, created_at, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX note_author ON public.note USING btree (org_id, author_id, created_at, id) WHERE ((author_id IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX note_company ON public.note USING btree (org_id, company_id, created_at, id) WHERE (company_id IS NOT NULL)
CREATE INDEX note_contact ON public.note USING btree (org_id, contact_id, created_at, id) WHERE (contact_id IS NOT NULL)
CREATE INDEX note_created ON public.note USING btree (org_id, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX note_deal ON public.note USING btree (org_id, deal_id, created_at, id) WHERE (deal_id IS NOT NULL)
CREATE INDEX oauth_state_age ON public.oauth_state USING btree (expires_at)
CREATE INDEX org_suspended ON public.org USING btree (id) WHERE (suspended_at IS NOT NULL)
CREATE INDEX outreach_delta_xid ON public.outreach_delta USING btree (xid)
CREATE INDEX overview_state_look ON public.overview_state USING btree (look_at)
CREATE INDEX pipeline_created ON public.pipeline USING btree (org_id, created_at, id)
CREATE INDEX pipeline_stage_place ON public.pipeline_stage USING btree (org_id, pipeline_id, place)
CREATE INDEX provider_event_age ON public.provider_event USING btree (received_at)
CREATE INDEX quota_overage ON public.quota USING btree (org_id) WHERE overage
CREATE INDEX refolding_open ON public.refolding USING btree (org_id) WHERE (ended_at IS NULL)
CREATE INDEX refresh_token_age ON public.refresh_token USING btree (expires_at)
CREATE INDEX refresh_token_family ON public.refresh_token USING btree (org_id, family)
CREATE INDEX refresh_token_user ON public.refresh_token USING btree (user_id)
CREATE INDEX request_log_failed ON ONLY public.request_log USING btree (org_id, id) WHERE (status >= 400)
CREATE INDEX request_log_request ON ONLY public.request_log USING btree (org_id, request_id)
CREATE INDEX sandbox_email_message ON public.sandbox_email USING btree (org_id, message_id)
CREATE INDEX sandbox_email_received ON public.sandbox_email USING btree (received_at, id)
CREATE INDEX sandbox_hook_name ON public.sandbox_hook USING btree (name, id)
CREATE INDEX sandbox_mail_age ON public.sandbox_mail USING btree (received_at)
CREATE INDEX sandbox_oauth_newest ON public.sandbox_oauth USING btree (kind, seq)
CREATE INDEX sandbox_stripe_due ON public.sandbox_stripe USING btree (timer, due, seq) WHERE (timer <> ''::text)
CREATE INDEX sandbox_stripe_marks ON public.sandbox_stripe USING gin (marks)
CREATE INDEX score_snapshot_at ON public.score_snapshot USING btree (org_id, at, deal_id)
CREATE INDEX score_snapshot_contact ON public.score_snapshot USING btree (org_id, contact_id)
CREATE INDEX score_training_open ON public.score_training USING btree (org_id) WHERE (status = 'queued'::text)
CREATE INDEX segment_building ON public.segment USING btree (org_id) WHERE ((status = 'building'::text) AND (archived_at IS NULL))
CREATE INDEX segment_entry_age ON public.segment_entry USING btree (created_at)
CREATE INDEX segment_entry_contact ON public.segment_entry USING btree (org_id, contact_id)
CREATE INDEX segment_entry_due ON public.segment_entry USING btree (org_id, due_at)
CREATE INDEX segment_member_contact ON public.segment_member USING btree (org_id, contact_id, segment_id)
CREATE INDEX send_group_due ON public.send_group USING btree (org_id, wake_at) WHERE (wake_at IS NOT NULL)
CREATE INDEX send_group_sequence ON public.send_group USING btree (org_id, sequence_id)
CREATE INDEX send_group_wake ON public.send_group USING btree (wake_at) WHERE (wake_at IS NOT NULL)
CREATE INDEX sending_domain_due ON public.sending_domain USING btree (next_check_at)
CREATE INDEX sending_key_domain ON public.sending_key USING btree (org_id, domain_id)
CREATE INDEX sequence_archived ON public.sequence USING btree (org_id, created_at, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX sequence_archived_name ON public.sequence USING btree (org_id, name_folded, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX sequence_created ON public.sequence USING btree (org_id, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX sequence_name ON public.sequence USING btree (org_id, name_folded, id) WHERE (archived_at IS NULL)
CREATE INDEX sequence_segment ON public.sequence USING btree (org_id, enroll_segment) WHERE (enroll_segment IS NOT NULL)
CREATE INDEX social_account_grant ON public.social_account USING btree (org_id, grant_id)
CREATE INDEX social_account_key ON public.social_account USING btree (key_id) WHERE (key_id IS NOT NULL)
CREATE INDEX social_grant_due ON public.social_grant USING btree (platform, client_id, refresh_at) WHERE ((status = ANY (ARRAY['active'::text, 'expiring'::text])) AND (refresh_at IS NOT NULL))
CREATE INDEX social_grant_end ON public.social_grant USING btree (refresh_expires_at) WHERE ((status = ANY (ARRAY['active'::text, 'expiring'::text])) AND (refresh_expires_at IS NOT NULL))
CREATE INDEX social_grant_key ON public.social_grant USING btree (key_id) WHERE (key_id IS NOT NULL)
CREATE INDEX social_grant_login ON public.social_grant USING btree (org_id, platform, client_id, subject_id)
CREATE INDEX social_grant_person ON public.social_grant USING btree (client_id, subject_id)
CREATE INDEX social_pending_person ON public.social_pending USING btree (client_id, subject_id)
CREATE INDEX staff_access_age ON public.staff_access USING btree (expires_at)
CREATE INDEX stripe_event_age ON public.stripe_event USING btree (received_at)
CREATE INDEX stripe_subscription_due ON public.stripe_subscription USING btree (period_end) WHERE live
CREATE INDEX stripe_subscription_overage ON public.stripe_subscription USING btree (org_id) WHERE (live AND (overage_quantity <> 0))
CREATE INDEX subscription_version ON public.subscription USING btree (plan_version)
CREATE INDEX suppression_hash ON public.suppression USING btree (org_id, hash)
CREATE INDEX suppression_import_age ON public.suppression_import USING btree (created_at)
CREATE INDEX system_mail_age ON public.system_mail USING btree (created_at)
CREATE INDEX task_archived ON public.task USING btree (org_id, created_at, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX task_archived_due ON public.task USING btree (org_id, due_order, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX task_assignee ON public.task USING btree (org_id, assignee_id, due_order, id) WHERE ((assignee_id IS NOT NULL) AND (archived_at IS NULL))
CREATE INDEX task_company ON public.task USING btree (org_id, company_id, created_at, id) WHERE (company_id IS NOT NULL)
CREATE INDEX task_contact ON public.task USING btree (org_id, contact_id, created_at, id) WHERE (contact_id IS NOT NULL)
CREATE INDEX task_created ON public.task USING btree (org_id, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX task_deal ON public.task USING btree (org_id, deal_id, created_at, id) WHERE (deal_id IS NOT NULL)
CREATE INDEX task_due ON public.task USING btree (org_id, due_order, id) WHERE (archived_at IS NULL)
CREATE INDEX task_status ON public.task USING btree (org_id, status, due_order, id) WHERE (archived_at IS NULL)
CREATE INDEX template_archived ON public.template USING btree (org_id, created_at, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX template_archived_name ON public.template USING btree (org_id, name_folded, id) WHERE (archived_at IS NOT NULL)
CREATE INDEX template_created ON public.template USING btree (org_id, created_at, id) WHERE (archived_at IS NULL)
CREATE INDEX template_name ON public.template USING btree (org_id, name_folded, id) WHERE (archived_at IS NULL)
CREATE INDEX thread_age ON public.thread USING btree (last_message_at)
CREATE INDEX thread_contact ON public.thread USING btree (org_id, contact_id, last_message_at, id)
CREATE INDEX thread_last ON public.thread USING btree (org_id, last_message_at, id)
CREATE INDEX thread_mailbox ON public.thread USING btree (org_id, mailbox_id, last_message_at, id)
CREATE INDEX thread_unread ON public.thread USING btree (org_id, last_message_at, id) WHERE unread
CREATE INDEX user_token_age ON public.user_token USING btree (expires_at)
CREATE INDEX user_token_user ON public.user_token USING btree (user_id, purpose)
CREATE INDEX variant_comparison_due ON public.variant_comparison USING btree (check_at) WHERE (check_at IS NOT NULL)
CREATE INDEX vocabulary_former ON public.vocabulary USING btree (org_id) WHERE (former <> '{}'::text[])
CREATE INDEX webhook_attempt_delivery ON ONLY public.webhook_attempt USING btree (org_id, delivery_id, id)
CREATE INDEX webhook_delivery_again ON ONLY public.webhook_delivery USING btree (org_id, endpoint_id, event_id) WHERE (trigger = ANY (ARRAY['redelivery'::text, 'replay'::text]))
CREATE INDEX webhook_delivery_replay ON ONLY public.webhook_delivery USING btree (org_id, replay_id, indexed_status) WHERE (replay_id IS NOT NULL)
CREATE INDEX webhook_delivery_status ON ONLY public.webhook_delivery USING btree (org_id, endpoint_id, indexed_status, id)
CREATE INDEX webhook_delivery_type ON ONLY public.webhook_delivery USING btree (org_id, endpoint_id, event_type, id)
CREATE INDEX webhook_endpoint_disabled ON public.webhook_endpoint USING btree (org_id) WHERE ((disabled_reason <> ''::text) AND (archived_at IS NULL))
CREATE INDEX webhook_health_failing ON public.webhook_health USING btree (failing_since) WHERE (failing_since IS NOT NULL)
CREATE INDEX webhook_replay_open ON public.webhook_replay USING btree (org_id, endpoint_id, id) WHERE (completed_at IS NULL)
CREATE INDEX word_index_due ON public.word_index USING btree (org_id) WHERE due
CREATE UNIQUE INDEX ai_quota_pkey ON public.ai_quota USING btree (org_id, period)
CREATE UNIQUE INDEX ai_reservation_pkey ON public.ai_reservation USING btree (org_id, id)
CREATE UNIQUE INDEX ai_reservation_twin ON public.ai_reservation USING btree (org_id, client_key) WHERE ((state = 'open'::text) AND (client_key IS NOT NULL))
CREATE UNIQUE INDEX api_key_hash ON public.api_key USING btree (org_id, hash)
CREATE UNIQUE INDEX api_key_pkey ON public.api_key USING btree (org_id, id)
CREATE UNIQUE INDEX app_user_email_folded_key ON public.app_user USING btree (email_folded)
CREATE UNIQUE INDEX app_user_pkey ON public.app_user USING btree (id)
CREATE UNIQUE INDEX archive_day_pkey ON public.archive_day USING btree (name)
CREATE UNIQUE INDEX archive_part_pkey ON public.archive_part USING btree (name, part)
CREATE UNIQUE INDEX audit_log_pkey ON public.audit_log USING btree (org_id, id)
CREATE UNIQUE INDEX billing_customer_pkey ON public.billing_customer USING btree (org_id)
CREATE UNIQUE INDEX billing_customer_stripe_id_key ON public.billing_customer USING btree (stripe_id)
CREATE UNIQUE INDEX billing_preview_pkey ON public.billing_preview USING btree (org_id, id)
CREATE UNIQUE INDEX billing_price_current ON public.billing_price USING btree (plan, "interval", kind) WHERE (NOT replaced)
CREATE UNIQUE INDEX billing_price_pkey ON public.billing_price USING btree (stripe_id)
CREATE UNIQUE INDEX billing_sync_pkey ON public.billing_sync USING btree (name)
CREATE UNIQUE INDEX brand_pkey ON public.brand USING btree (org_id)
CREATE UNIQUE INDEX broadcast_pkey ON public.broadcast USING btree (org_id, id)
CREATE UNIQUE INDEX broadcast_recipient_pkey ON public.broadcast_recipient USING btree (org_id, broadcast_id, contact_id)
CREATE UNIQUE INDEX client_org_pkey ON public.client_org USING btree (org_id, id)
CREATE UNIQUE INDEX company_domain ON public.company USING btree (org_id, domain) WHERE ((domain IS NOT NULL) AND (archived_at IS NULL))
CREATE UNIQUE INDEX company_pkey ON public.company USING btree (org_id, id)
CREATE UNIQUE INDEX company_word_pkey ON public.company_word USING btree (org_id, word, company_id)
CREATE UNIQUE INDEX connect_account_pkey ON public.connect_account USING btree (org_id)
CREATE UNIQUE INDEX connect_account_stripe_id_key ON public.connect_account USING btree (stripe_id)
CREATE UNIQUE INDEX connect_fee_pkey ON public.connect_fee USING btree (org_id, invoice_id)
CREATE UNIQUE INDEX connect_sale_pkey ON public.connect_sale USING btree (org_id, id)
CREATE UNIQUE INDEX connect_sale_subscription ON public.connect_sale USING btree (subscription_id) WHERE (subscription_id <> ''::text)
CREATE UNIQUE INDEX consent_request_pkey ON public.consent_request USING btree (org_id, contact_id)
CREATE UNIQUE INDEX contact_attribute_pkey ON public.contact_attribute USING btree (org_id, contact_id, key)
CREATE UNIQUE INDEX contact_bulk_part_pkey ON public.contact_bulk_part USING btree (org_id, bulk_id, n)
CREATE UNIQUE INDEX contact_bulk_pkey ON public.contact_bulk USING btree (org_id, id)
CREATE UNIQUE INDEX contact_duplicate_pkey ON public.contact_duplicate USING btree (org_id, reason, n)
CREATE UNIQUE INDEX contact_duplicate_search_pkey ON public.contact_duplicate_search USING btree (org_id)
CREATE UNIQUE INDEX contact_email ON public.contact USING btree (org_id, email_folded) WHERE (archived_at IS NULL)
CREATE UNIQUE INDEX contact_export_part_pkey ON public.contact_export_part USING btree (org_id, export_id, part)
CREATE UNIQUE INDEX contact_export_pkey ON public.contact_export USING btree (org_id, id)
CREATE UNIQUE INDEX contact_field_folded ON public.contact_field USING btree (org_id, folded) WHERE (archived_at IS NULL)
CREATE UNIQUE INDEX contact_field_pkey ON public.contact_field USING btree (org_id, key)
CREATE UNIQUE INDEX contact_import_block_pkey ON public.contact_import_block USING btree (org_id, import_id, block)
CREATE UNIQUE INDEX contact_import_effect_pkey ON public.contact_import_effect USING btree (org_id, import_id, contact_id)
CREATE UNIQUE INDEX contact_import_error_pkey ON public.contact_import_error USING btree (org_id, import_id, "row")
CREATE UNIQUE INDEX contact_import_pkey ON public.contact_import USING btree (org_id, id)
CREATE UNIQUE INDEX contact_import_warning_pkey ON public.contact_import_warning USING btree (org_id, import_id, number)
CREATE UNIQUE INDEX contact_merge_pkey ON public.contact_merge USING btree (org_id, id)
CREATE UNIQUE INDEX contact_merged_pkey ON public.contact_merged USING btree (org_id, survivor_id, contact_id)
CREATE UNIQUE INDEX contact_pkey ON public.contact USING btree (org_id, id)
CREATE UNIQUE INDEX contact_score_pkey ON public.contact_score USING btree (org_id, contact_id)
CREATE UNIQUE INDEX contact_tag_pkey ON public.contact_tag USING btree (org_id, tag, archived, created_at, contact_id)
CREATE UNIQUE INDEX contact_word_pkey ON public.contact_word USING btree (org_id, word, contact_id)
CREATE UNIQUE INDEX day_count_pkey ON public.day_count USING btree (org_id, day)
CREATE UNIQUE INDEX day_deals_pkey ON public.day_deals USING btree (org_id, day, status, currency)
CREATE UNIQUE INDEX deal_pkey ON public.deal USING btree (org_id, id)
CREATE UNIQUE INDEX deal_word_pkey ON public.deal_word USING btree (org_id, word, deal_id)
CREATE UNIQUE INDEX domain_feed_pkey ON public.domain_feed USING btree (one)
CREATE UNIQUE INDEX domain_host ON public.domain USING btree (host) WHERE held
CREATE UNIQUE INDEX domain_pkey ON public.domain USING btree (org_id, id)
CREATE UNIQUE INDEX domain_use ON public.domain USING btree (org_id, use) WHERE (status <> 'removed'::text)
CREATE UNIQUE INDEX email_attachment_pkey ON public.email_attachment USING btree (org_id, email_id, n)
CREATE UNIQUE INDEX email_broadcast_once ON public.email USING btree (org_id, broadcast_id, to_email) WHERE ((broadcast_id IS NOT NULL) AND (to_email <> ''::text))
CREATE UNIQUE INDEX email_content_pkey ON public.email_content USING btree (org_id, email_id)
CREATE UNIQUE INDEX email_fact_pkey ON public.email_fact USING btree (org_id, id)
CREATE UNIQUE INDEX email_hit_pkey ON public.email_hit USING btree (org_id, id)
CREATE UNIQUE INDEX email_link_pkey ON public.email_link USING btree (org_id, email_id, n)
CREATE UNIQUE INDEX email_message ON public.email USING btree (org_id, message_hash)
CREATE UNIQUE INDEX email_month_pkey ON public.email_month USING btree (org_id, period, slot)
CREATE UNIQUE INDEX email_pkey ON public.email USING btree (org_id, id)
CREATE UNIQUE INDEX email_step ON public.email USING btree (org_id, enrolment_id, step) WHERE ((enrolment_id IS NOT NULL) AND (status <> 'cancelled'::text))
CREATE UNIQUE INDEX enrolment_batch_pkey ON public.enrolment_batch USING btree (org_id, id)
CREATE UNIQUE INDEX enrolment_exclusive ON public.enrolment USING btree (org_id, contact_id) WHERE (exclusive AND (ended_at IS NULL))
CREATE UNIQUE INDEX enrolment_history_pkey ON public.enrolment_history USING btree (org_id, enrolment_id, id)
CREATE UNIQUE INDEX enrolment_move_pkey ON public.enrolment_move USING btree (org_id, id)
CREATE UNIQUE INDEX enrolment_open ON public.enrolment USING btree (org_id, sequence_id, contact_id) WHERE (ended_at IS NULL)
CREATE UNIQUE INDEX enrolment_pkey ON public.enrolment USING btree (org_id, id)
CREATE UNIQUE INDEX enrolment_result_pkey ON public.enrolment_result USING btree (org_id, batch_id, contact_id)
CREATE UNIQUE INDEX event_horizon_row_pkey ON public.event_horizon_row USING btree (xid)
CREATE UNIQUE INDEX event_pkey ON ONLY public.event USING btree (org_id, id)
CREATE UNIQUE INDEX external_id_live ON public.external_id USING btree (org_id, kind, system, value) INCLUDE (record_id) WHERE (NOT archived)
CREATE UNIQUE INDEX external_id_pkey ON public.external_id USING btree (org_id, kind, system, value, record_id)
CREATE UNIQUE INDEX idempotency_key_pkey ON public.idempotency_key USING btree (org_id, key)
CREATE UNIQUE INDEX installation_pkey ON public.installation USING btree (one)
CREATE UNIQUE INDEX invitation_count_pkey ON public.invitation_count USING btree (org_id, id)
CREATE UNIQUE INDEX invitation_mail_pkey ON public.invitation_mail USING btree (address, sent_at)
CREATE UNIQUE INDEX invitation_open ON public.invitation USING btree (org_id, email_folded) WHERE (closed_at IS NULL)
CREATE UNIQUE INDEX invitation_pkey ON public.invitation USING btree (org_id, id)
CREATE UNIQUE INDEX invitation_token ON public.invitation USING btree (org_id, token_hash)
CREATE UNIQUE INDEX job_act_pkey ON public.job_act USING btree (id)
CREATE UNIQUE INDEX job_death_pkey ON public.job_death USING btree (org_id, id)
CREATE UNIQUE INDEX job_dedupe ON public.job USING btree (org_id, dedupe_key) WHERE (dedupe_key IS NOT NULL)
CREATE UNIQUE INDEX job_floor_pkey ON public.job_floor USING btree (at)
CREATE UNIQUE INDEX job_lane_pkey ON public.job_lane USING btree (lane)
CREATE UNIQUE INDEX job_line_pkey ON public.job_line USING btree (org_id, id)
CREATE UNIQUE INDEX job_pause_pkey ON public.job_pause USING btree (scope, name)
CREATE UNIQUE INDEX job_pkey ON public.job USING btree (org_id, id)
CREATE UNIQUE INDEX job_redrive_pkey ON public.job_redrive USING btree (id)
CREATE UNIQUE INDEX job_weight_pkey ON public.job_weight USING btree (org_id)
CREATE UNIQUE INDEX mailbox_folder_pkey ON public.mailbox_folder USING btree (org_id, mailbox_id, folder)
CREATE UNIQUE INDEX mailbox_from ON public.mailbox USING btree (org_id, from_folded) WHERE (archived_at IS NULL)
CREATE UNIQUE INDEX mailbox_inbound ON public.mailbox USING btree (inbound_hash)
CREATE UNIQUE INDEX mailbox_pkey ON public.mailbox USING btree (org_id, id)
CREATE UNIQUE INDEX mailbox_provider_pkey ON public.mailbox_provider USING btree (org_id, id)
CREATE UNIQUE INDEX mailbox_silence_pkey ON public.mailbox_silence USING btree (org_id, mailbox_id, server)
CREATE UNIQUE INDEX member_pkey ON public.member USING btree (org_id, user_id)
CREATE UNIQUE INDEX message_identity ON public.message USING btree (org_id, mailbox_id, identity)
CREATE UNIQUE INDEX message_pkey ON public.message USING btree (org_id, id)
CREATE UNIQUE INDEX message_raw_pkey ON public.message_raw USING btree (org_id, id)
CREATE UNIQUE INDEX note_pkey ON public.note USING btree (org_id, id)
CREATE UNIQUE INDEX oauth_state_pkey ON public.oauth_state USING btree (org_id, hash)
CREATE UNIQUE INDEX org_key_pkey ON public.org_key USING btree (org_id)
CREATE UNIQUE INDEX org_level ON public.org USING btree (id, level)
CREATE UNIQUE INDEX org_pkey ON public.org USING btree (id)
CREATE UNIQUE INDEX org_sending_pkey ON public.org_sending USING btree (org_id)
CREATE UNIQUE INDEX outreach_count_pkey ON public.outreach_count USING btree (org_id, source_id, xid, step, variant)
CREATE UNIQUE INDEX outreach_delta_pkey ON public.outreach_delta USING btree (org_id, source_id, xid, id)
CREATE UNIQUE INDEX outreach_uncounted_pkey ON public.outreach_uncounted USING btree (org_id, source_id)
CREATE UNIQUE INDEX overview_state_pkey ON public.overview_state USING btree (org_id)
CREATE UNIQUE INDEX partitioned_pkey ON public.partitioned USING btree (name)
CREATE UNIQUE INDEX pipeline_default ON public.pipeline USING btree (org_id) WHERE is_default
CREATE UNIQUE INDEX pipeline_pkey ON public.pipeline USING btree (org_id, id)
CREATE UNIQUE INDEX pipeline_stage_org_id_id_pipeline_id_kind_key ON public.pipeline_stage USING btree (org_id, id, pipeline_id, kind)
CREATE UNIQUE INDEX pipeline_stage_pkey ON public.pipeline_stage USING btree (org_id, id)
CREATE UNIQUE INDEX plan_addon_pkey ON public.plan_addon USING btree (org_id, id)
CREATE UNIQUE INDEX plan_change_client_key ON public.plan_change USING btree (org_id, client_key) WHERE (client_key IS NOT NULL)
CREATE UNIQUE INDEX plan_change_open ON public.plan_change USING btree (org_id) WHERE (state = ANY (ARRAY['in_flight'::text, 'action_required'::text]))
CREATE UNIQUE INDEX plan_change_pkey ON public.plan_change USING btree (org_id, id)
CREATE UNIQUE INDEX plan_change_scheduled ON public.plan_change USING btree (org_id) WHERE (state = 'scheduled'::text)
CREATE UNIQUE INDEX plan_change_step_pkey ON public.plan_change_step USING btree (org_id, change_id, id)
CREATE UNIQUE INDEX plan_change_stripe_key_key ON public.plan_change USING btree (stripe_key)
CREATE UNIQUE INDEX plan_override_pkey ON public.plan_override USING btree (org_id, feature)
CREATE UNIQUE INDEX process_pkey ON public.process USING btree (id)
CREATE UNIQUE INDEX provider_event_pkey ON public.provider_event USING btree (org_id, mailbox_id, identity)
CREATE UNIQUE INDEX quota_pkey ON public.quota USING btree (org_id, feature)
CREATE UNIQUE INDEX quota_source_pkey ON public.quota_source USING btree (feature, relation)
CREATE UNIQUE INDEX refolding_pkey ON public.refolding USING btree (org_id)
CREATE UNIQUE INDEX refresh_token_hash ON public.refresh_token USING btree (org_id, hash)
CREATE UNIQUE INDEX refresh_token_pkey ON public.refresh_token USING btree (org_id, id)
CREATE UNIQUE INDEX request_log_pkey ON ONLY public.request_log USING btree (org_id, id)
CREATE UNIQUE INDEX sandbox_email_pkey ON public.sandbox_email USING btree (org_id, id)
CREATE UNIQUE INDEX sandbox_hook_pkey ON public.sandbox_hook USING btree (id)
CREATE UNIQUE INDEX sandbox_mail_pkey ON public.sandbox_mail USING btree (org_id, id)
CREATE UNIQUE INDEX sandbox_oauth_pkey ON public.sandbox_oauth USING btree (kind, id)
CREATE UNIQUE INDEX sandbox_stripe_pkey ON public.sandbox_stripe USING btree (account, kind, id)
CREATE UNIQUE INDEX sandbox_stripe_seq ON public.sandbox_stripe USING btree (kind, account, seq)
CREATE UNIQUE INDEX schedule_zone_pkey ON public.schedule_zone USING btree (org_id, schedule, zone)
CREATE UNIQUE INDEX score_current_pkey ON public.score_current USING btree (org_id)
CREATE UNIQUE INDEX score_history_pkey ON public.score_history USING btree (org_id, contact_id, recorded_at)
CREATE UNIQUE INDEX score_model_pkey ON public.score_model USING btree (org_id, number)
CREATE UNIQUE INDEX score_snapshot_pkey ON public.score_snapshot USING btree (org_id, deal_id)
CREATE UNIQUE INDEX score_training_pkey ON public.score_training USING btree (org_id, id)
CREATE UNIQUE INDEX sealing_key_pkey ON public.sealing_key USING btree (id)
CREATE UNIQUE INDEX segment_entry_pkey ON public.segment_entry USING btree (org_id, id)
CREATE UNIQUE INDEX segment_folded ON public.segment USING btree (org_id, folded)
CREATE UNIQUE INDEX segment_key ON public.segment USING btree (org_id, key)
CREATE UNIQUE INDEX segment_mark_pkey ON public.segment_mark USING btree (org_id, id)
CREATE UNIQUE INDEX segment_member_pkey ON public.segment_member USING btree (org_id, segment_id, archived, created_at, contact_id)
CREATE UNIQUE INDEX segment_pkey ON public.segment USING btree (org_id, id)
CREATE UNIQUE INDEX segment_tally_pkey ON public.segment_tally USING btree (org_id, segment_id, id)
CREATE UNIQUE INDEX segment_watch_pkey ON public.segment_watch USING btree (org_id)
CREATE UNIQUE INDEX send_group_pkey ON public.send_group USING btree (org_id, id)
CREATE UNIQUE INDEX sending_domain_name ON public.sending_domain USING btree (org_id, domain)
CREATE UNIQUE INDEX sending_domain_pkey ON public.sending_domain USING btree (org_id, id)
CREATE UNIQUE INDEX sending_key_pkey ON public.sending_key USING btree (org_id, id)
CREATE UNIQUE INDEX sequence_pkey ON public.sequence USING btree (org_id, id)
CREATE UNIQUE INDEX sequence_step_key ON public.sequence_step USING btree (org_id, sequence_id, version, key)
CREATE UNIQUE INDEX sequence_step_pkey ON public.sequence_step USING btree (org_id, sequence_id, version, "position")
CREATE UNIQUE INDEX sequence_version_pkey ON public.sequence_version USING btree (org_id, sequence_id, number)
CREATE UNIQUE INDEX signing_key_pkey ON public.signing_key USING btree (kid)
CREATE UNIQUE INDEX social_account_org_id_platform_external_account_id_key ON public.social_account USING btree (org_id, platform, external_account_id)
CREATE UNIQUE INDEX social_account_pkey ON public.social_account USING btree (org_id, id)
CREATE UNIQUE INDEX social_budget_pkey ON public.social_budget USING btree (family, client_id)
CREATE UNIQUE INDEX social_grant_pkey ON public.social_grant USING btree (org_id, id)
CREATE UNIQUE INDEX social_hold_pkey ON public.social_hold USING btree (platform, client_id)
CREATE UNIQUE INDEX social_notice_code_key ON public.social_notice USING btree (code)
CREATE UNIQUE INDEX social_notice_pkey ON public.social_notice USING btree (id)
CREATE UNIQUE INDEX social_pending_pkey ON public.social_pending USING btree (org_id, id)
CREATE UNIQUE INDEX staff_access_pkey ON public.staff_access USING btree (org_id, id)
CREATE UNIQUE INDEX stripe_event_id_key ON public.stripe_event USING btree (id)
CREATE UNIQUE INDEX stripe_event_pkey ON public.stripe_event USING btree (org_id, id)
CREATE UNIQUE INDEX stripe_subscription_live ON public.stripe_subscription USING btree (org_id) WHERE live
CREATE UNIQUE INDEX stripe_subscription_pkey ON public.stripe_subscription USING btree (org_id, stripe_id)
CREATE UNIQUE INDEX stripe_subscription_stripe_id_key ON public.stripe_subscription USING btree (stripe_id)
CREATE UNIQUE INDEX subscription_customer ON public.subscription USING btree (stripe_customer_id) WHERE (stripe_customer_id IS NOT NULL)
CREATE UNIQUE INDEX subscription_pkey ON public.subscription USING btree (org_id)
CREATE UNIQUE INDEX subscription_stripe ON public.subscription USING btree (stripe_subscription_id) WHERE (stripe_subscription_id IS NOT NULL)
CREATE UNIQUE INDEX suppression_import_block_pkey ON public.suppression_import_block USING btree (org_id, import_id, block)
CREATE UNIQUE INDEX suppression_import_error_pkey ON public.suppression_import_error USING btree (org_id, import_id, "row")
CREATE UNIQUE INDEX suppression_import_pkey ON public.suppression_import USING btree (org_id, id)
CREATE UNIQUE INDEX suppression_import_warning_pkey ON public.suppression_import_warning USING btree (org_id, import_id, number)
CREATE UNIQUE INDEX suppression_live ON public.suppression USING btree (org_id, hash, purpose) WHERE (lifted_at IS NULL)
CREATE UNIQUE INDEX suppression_pkey ON public.suppression USING btree (org_id, id)
CREATE UNIQUE INDEX system_mail_pkey ON public.system_mail USING btree (org_id, id)
CREATE UNIQUE INDEX task_pkey ON public.task USING btree (org_id, id)
CREATE UNIQUE INDEX template_pkey ON public.template USING btree (org_id, id)
CREATE UNIQUE INDEX thread_pkey ON public.thread USING btree (org_id, id)
CREATE UNIQUE INDEX tick_pkey ON public.tick USING btree (entry, tick)
CREATE UNIQUE INDEX timeline_pkey ON public.timeline USING btree (org_id, contact_id, id)
CREATE UNIQUE INDEX user_token_pkey ON public.user_token USING btree (hash)
CREATE UNIQUE INDEX user_view_pkey ON public.user_view USING btree (org_id, user_id, key)
CREATE UNIQUE INDEX variant_comparison_pkey ON public.variant_comparison USING btree (org_id, sequence_id, step)
CREATE UNIQUE INDEX vocabulary_pkey ON public.vocabulary USING btree (org_id, kind, folded)
CREATE UNIQUE INDEX webhook_attempt_pkey ON ONLY public.webhook_attempt USING btree (org_id, id)
CREATE UNIQUE INDEX webhook_delivery_pkey ON ONLY public.webhook_delivery USING btree (org_id, id)
CREATE UNIQUE INDEX webhook_endpoint_pkey ON public.webhook_endpoint USING btree (org_id, id)
CREATE UNIQUE INDEX webhook_health_pkey ON public.webhook_health USING btree (org_id, endpoint_id)
CREATE UNIQUE INDEX webhook_replay_pkey ON public.webhook_replay USING btree (org_id, id)
CREATE UNIQUE INDEX word_index_mark_pkey ON public.word_index_mark USING btree (org_id, id)
CREATE UNIQUE INDEX word_index_page_pkey ON public.word_index_page USING btree (org_id, page, block)
CREATE UNIQUE INDEX word_index_pkey ON public.word_index USING btree (org_id)

-- row policies
ai_quota: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
ai_reservation: system for ALL to funnelwork_system using (true) check (true) forced
ai_reservation: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
api_key: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
app_user: colleagues for SELECT to funnelwork_app using ((EXISTS ( SELECT 1
   FROM member m
  WHERE ((m.user_id = app_user.id) AND (m.org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid))))) check () forced
app_user: system for ALL to funnelwork_system using (true) check (true) forced
audit_log: system for ALL to funnelwork_system using (true) check (true) forced
audit_log: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
billing_customer: system for ALL to funnelwork_system using (true) check (true) forced
billing_customer: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
billing_preview: system for ALL to funnelwork_system using (true) check (true) forced
billing_preview: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
brand: system for ALL to funnelwork_system using (true) check (true) forced
brand: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
broadcast: system for ALL to funnelwork_system using (true) check (true) forced
broadcast: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
broadcast_recipient: system for ALL to funnelwork_system using (true) check (true) forced
broadcast_recipient: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
client_org: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
company: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
company_word: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
connect_account: system for ALL to funnelwork_system using (true) check (true) forced
connect_account: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
connect_fee: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
connect_sale: system for ALL to funnelwork_system using (true) check (true) forced
connect_sale: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
consent_request: system for ALL to funnelwork_system using (true) check (true) forced
consent_request: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact: system for SELECT to funnelwork_system using (true) check () forced
contact: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_attribute: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_bulk: system for ALL to funnelwork_system using (true) check (true) forced
contact_bulk: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_bulk_part: system for ALL to funnelwork_system using (true) check (true) forced
contact_bulk_part: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_duplicate: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_duplicate_search: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_export: system for ALL to funnelwork_system using (true) check (true) forced
contact_export: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_export_part: system for ALL to funnelwork_system using (true) check (true) forced
contact_export_part: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_field: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_import: system for ALL to funnelwork_system using (true) check (true) forced
contact_import: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_import_block: system for ALL to funnelwork_system using (true) check (true) forced
contact_import_block: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_import_effect: system for ALL to funnelwork_system using (true) check (true) forced
contact_import_effect: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_import_error: system for ALL to funnelwork_system using (true) check (true) forced
contact_import_error: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_import_warning: system for ALL to funnelwork_system using (true) check (true) forced
contact_import_warning: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_merge: system for ALL to funnelwork_system using (true) check (true) forced
contact_merge: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_merged: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_score: system for ALL to funnelwork_system using (true) check (true) forced
contact_score: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_tag: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
contact_word: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
day_count: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
day_deals: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
deal: system for ALL to funnelwork_system using (true) check (true) forced
deal: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
deal_word: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
domain: system for ALL to funnelwork_system using (true) check (true) forced
domain: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
email: system for ALL to funnelwork_system using (true) check (true) forced
email: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
email_attachment: system for ALL to funnelwork_system using (true) check (true) forced
email_attachment: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
email_content: system for ALL to funnelwork_system using (true) check (true) forced
email_content: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
email_fact: system for ALL to funnelwork_system using (true) check (true) forced
email_fact: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
email_hit: system for ALL to funnelwork_system using (true) check (true) forced
email_hit: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
email_link: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
email_month: system for ALL to funnelwork_system using (true) check (true) forced
email_month: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
enrolment: system for ALL to funnelwork_system using (true) check (true) forced
enrolment: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
enrolment_batch: system for ALL to funnelwork_system using (true) check (true) forced
enrolment_batch: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
enrolment_history: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
enrolment_move: system for ALL to funnelwork_system using (true) check (true) forced
enrolment_move: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
enrolment_result: system for ALL to funnelwork_system using (true) check (true) forced
enrolment_result: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
event: retention for DELETE to funnelwork_system using (true) check () forced
event: system for SELECT to funnelwork_system using (true) check () forced
event: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
external_id: system for ALL to funnelwork_system using (true) check (true) forced
external_id: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
idempotency_key: system for ALL to funnelwork_system using (true) check (true) forced
idempotency_key: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
installation: system for ALL to funnelwork_system using (true) check (true) forced
invitation: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
invitation_count: system for ALL to funnelwork_system using (true) check (true) forced
invitation_count: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
job: system for ALL to funnelwork_system using (true) check (true) forced
job: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
job_death: system for ALL to funnelwork_system using (true) check (true) forced
job_death: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
job_line: system for ALL to funnelwork_system using (true) check (true) forced
job_line: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
job_weight: system for ALL to funnelwork_system using (true) check (true) forced
job_weight: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
mailbox: system for ALL to funnelwork_system using (true) check (true) forced
mailbox: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
mailbox_folder: system for ALL to funnelwork_system using (true) check (true) forced
mailbox_folder: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
mailbox_provider: system for ALL to funnelwork_system using (true) check (true) forced
mailbox_provider: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
mailbox_silence: system for ALL to funnelwork_system using (true) check (true) forced
mailbox_silence: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
member: system for ALL to funnelwork_system using (true) check (true) forced
member: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
message: system for ALL to funnelwork_system using (true) check (true) forced
message: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
message_raw: system for ALL to funnelwork_system using (true) check (true) forced
message_raw: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
note: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
oauth_state: system for ALL to funnelwork_system using (true) check (true) forced
oauth_state: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
org: system for ALL to funnelwork_system using (true) check (true) forced
org: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
org_key: platform for SELECT to funnelwork_app using ((org_id = '00000000-0000-0000-0000-000000000000'::uuid)) check () forced
org_key: system for ALL to funnelwork_system using (true) check (true) forced
org_key: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
org_sending: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
outreach_count: system for ALL to funnelwork_system using (true) check (true) forced
outreach_count: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
outreach_delta: system for ALL to funnelwork_system using (true) check (true) forced
outreach_delta: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
outreach_uncounted: system for ALL to funnelwork_system using (true) check (true) forced
outreach_uncounted: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
overview_state: system for ALL to funnelwork_system using (true) check (true) forced
overview_state: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
pipeline: system for ALL to funnelwork_system using (true) check (true) forced
pipeline: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
pipeline_stage: system for ALL to funnelwork_system using (true) check (true) forced
pipeline_stage: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
plan_addon: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
plan_change: system for ALL to funnelwork_system using (true) check (true) forced
plan_change: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
plan_change_step: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
plan_override: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
provider_event: system for ALL to funnelwork_system using (true) check (true) forced
provider_event: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
quota: system for ALL to funnelwork_system using (true) check (true) forced
quota: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
refolding: system for ALL to funnelwork_system using (true) check (true) forced
refolding: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
refresh_token: system for ALL to funnelwork_system using (true) check (true) forced
refresh_token: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
request_log: system for ALL to funnelwork_system using (true) check (true) forced
request_log: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
sandbox_email: system for ALL to funnelwork_system using (true) check (true) forced
sandbox_email: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
sandbox_mail: system for ALL to funnelwork_system using (true) check (true) forced
sandbox_mail: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
schedule_zone: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
score_current: system for ALL to funnelwork_system using (true) check (true) forced
score_current: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
score_history: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
score_model: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
score_snapshot: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
score_training: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
segment: system for ALL to funnelwork_system using (true) check (true) forced
segment: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
segment_entry: system for ALL to funnelwork_system using (true) check (true) forced
segment_entry: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
segment_mark: system for ALL to funnelwork_system using (true) check (true) forced
segment_mark: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
segment_member: system for ALL to funnelwork_system using (true) check (true) forced
segment_member: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
segment_tally: system for ALL to funnelwork_system using (true) check (true) forced
segment_tally: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
segment_watch: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
send_group: system for ALL to funnelwork_system using (true) check (true) forced
send_group: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
sending_domain: system for ALL to funnelwork_system using (true) check (true) forced
sending_domain: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
sending_key: system for ALL to funnelwork_system using (true) check (true) forced
sending_key: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
sequence: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
sequence_step: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
sequence_version: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
signing_key: system for ALL to funnelwork_system using (true) check (true) forced
social_account: system for ALL to funnelwork_system using (true) check (true) forced
social_account: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
social_grant: system for ALL to funnelwork_system using (true) check (true) forced
social_grant: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
social_pending: system for ALL to funnelwork_system using (true) check (true) forced
social_pending: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
staff_access: system for ALL to funnelwork_system using (true) check (true) forced
staff_access: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
stripe_event: system for ALL to funnelwork_system using (true) check (true) forced
stripe_event: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
stripe_subscription: system for ALL to funnelwork_system using (true) check (true) forced
stripe_subscription: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
subscription: system for ALL to funnelwork_system using (true) check (true) forced
subscription: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
suppression: platform for SELECT to funnelwork_app using ((org_id = '00000000-0000-0000-0000-000000000000'::uuid)) check () forced
suppression: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
suppression_import: system for ALL to funnelwork_system using (true) check (true) forced
suppression_import: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
suppression_import_block: system for ALL to funnelwork_system using (true) check (true) forced
suppression_import_block: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
suppression_import_error: system for ALL to funnelwork_system using (true) check (true) forced
suppression_import_error: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
suppression_import_warning: system for ALL to funnelwork_system using (true) check (true) forced
suppression_import_warning: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
system_mail: system for ALL to funnelwork_system using (true) check (true) forced
system_mail: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
task: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
template: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
thread: system for ALL to funnelwork_system using (true) check (true) forced
thread: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
timeline: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
user_token: system for ALL to funnelwork_system using (true) check (true) forced
user_view: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
variant_comparison: system for ALL to funnelwork_system using (true) check (true) forced
variant_comparison: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
vocabulary: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
webhook_attempt: system for ALL to funnelwork_system using (true) check (false) forced
webhook_attempt: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
webhook_delivery: system for ALL to funnelwork_system using (true) check (false) forced
webhook_delivery: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
webhook_endpoint: system for ALL to funnelwork_system using (true) check (true) forced
webhook_endpoint: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
webhook_health: system for ALL to funnelwork_system using (true) check (true) forced
webhook_health: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
webhook_replay: system for ALL to funnelwork_system using (true) check (true) forced
webhook_replay: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
word_index: system for ALL to funnelwork_system using (true) check (true) forced
word_index: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
word_index_mark: system for ALL to funnelwork_system using (true) check (true) forced
word_index_mark: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced
word_index_page: tenant for ALL to funnelwork_app using ((org_id = (NULLIF(current_setting('app.org_id'::text, true), ''::text))::uuid)) check () forced

-- grants
ai_quota: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
ai_quota: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
ai_reservation: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
ai_reservation: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
ai_reservation: funnelwork_system may SELECT
api_key: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
api_key: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
app_user: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
app_user: funnelwork_system may INSERT, SELECT, UPDATE
archive_day: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
archive_day: funnelwork_system may SELECT
archive_part: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
archive_part: funnelwork_system may DELETE, INSERT, SELECT
audit_log: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
audit_log: funnelwork_app may INSERT, SELECT
audit_log: funnelwork_system may DELETE, INSERT, SELECT
billing_customer: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
billing_customer: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
billing_customer: funnelwork_system may SELECT
billing_preview: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
billing_preview: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
billing_preview: funnelwork_system may DELETE, SELECT
billing_price: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
billing_price: funnelwork_app may SELECT
billing_price: funnelwork_system may INSERT, SELECT, UPDATE
billing_sync: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
billing_sync: funnelwork_system may INSERT, SELECT, UPDATE
brand: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
brand: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
brand: funnelwork_system may SELECT
broadcast: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
broadcast: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
broadcast: funnelwork_system may SELECT
broadcast_recipient: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
broadcast_recipient: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
broadcast_recipient: funnelwork_system may DELETE, SELECT
client_org: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
client_org: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
company: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
company: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
company_word: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
company_word: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
connect_account: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
connect_account: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
connect_account: funnelwork_system may SELECT
connect_fee: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
connect_fee: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
connect_sale: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
connect_sale: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
connect_sale: funnelwork_system may SELECT
consent_request: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
consent_request: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
consent_request: funnelwork_system may DELETE, SELECT
contact: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_attribute: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_attribute: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_bulk: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_bulk: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_bulk: funnelwork_system may DELETE, SELECT
contact_bulk_part: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_bulk_part: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_bulk_part: funnelwork_system may DELETE, SELECT
contact_duplicate: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_duplicate: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_duplicate_search: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_duplicate_search: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_export: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_export: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_export: funnelwork_system may DELETE, SELECT, UPDATE
contact_export_part: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_export_part: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_export_part: funnelwork_system may DELETE, SELECT
contact_field: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_field: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_import: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_import: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_import: funnelwork_system may DELETE, SELECT
contact_import_block: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_import_block: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_import_block: funnelwork_system may DELETE, SELECT
contact_import_effect: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_import_effect: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_import_effect: funnelwork_system may DELETE, SELECT
contact_import_error: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_import_error: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_import_error: funnelwork_system may DELETE, SELECT
contact_import_warning: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_import_warning: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_import_warning: funnelwork_system may DELETE, SELECT
contact_merge: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_merge: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_merge: funnelwork_system may SELECT, UPDATE
contact_merged: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_merged: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_score: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_score: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_score: funnelwork_system may SELECT
contact_tag: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_tag: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
contact_word: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
contact_word: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
day_count: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
day_count: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
day_deals: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
day_deals: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
deal: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
deal: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
deal: funnelwork_system may SELECT
deal_word: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
deal_word: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
domain: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
domain: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
domain: funnelwork_system may SELECT
domain_feed: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
email: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
email: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
email: funnelwork_system may SELECT
email_attachment: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
email_attachment: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
email_attachment: funnelwork_system may DELETE, SELECT
email_content: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
email_content: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
email_content: funnelwork_system may DELETE, SELECT
email_fact: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
email_fact: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
email_fact: funnelwork_system may SELECT
email_hit: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
email_hit: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
email_hit: funnelwork_system may DELETE, INSERT, SELECT
email_link: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
email_link: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
email_month: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
email_month: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
email_month: funnelwork_system may DELETE, SELECT
enrolment: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
enrolment: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
enrolment: funnelwork_system may SELECT
enrolment_batch: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
enrolment_batch: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
enrolment_batch: funnelwork_system may DELETE, SELECT
enrolment_history: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
enrolment_history: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
enrolment_move: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
enrolment_move: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
enrolment_move: funnelwork_system may DELETE, SELECT
enrolment_result: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
enrolment_result: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
enrolment_result: funnelwork_system may DELETE, SELECT
event: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
event: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
event: funnelwork_system may DELETE
event_default: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
event_horizon_row: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
event_horizon_row: funnelwork_app may SELECT
event_horizon_row: funnelwork_system may DELETE, INSERT, SELECT
external_id: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
external_id: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
external_id: funnelwork_system may DELETE, INSERT, SELECT
goose_db_version: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
goose_lock: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
idempotency_key: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
idempotency_key: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
idempotency_key: funnelwork_system may DELETE, SELECT
installation: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
installation: funnelwork_system may SELECT
invitation: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
invitation: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
invitation_count: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
invitation_count: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
invitation_count: funnelwork_system may DELETE, SELECT
invitation_mail: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
invitation_mail: funnelwork_system may DELETE, SELECT
job: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
job: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
job: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
job_act: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
job_act: funnelwork_system may INSERT, SELECT
job_death: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
job_death: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
job_death: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
job_floor: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
job_floor: funnelwork_app may SELECT
job_floor: funnelwork_system may DELETE, INSERT, SELECT
job_lane: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
job_lane: funnelwork_app may SELECT
job_lane: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
job_line: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
job_line: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
job_line: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
job_pause: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
job_pause: funnelwork_app may SELECT
job_pause: funnelwork_system may DELETE, INSERT, SELECT
job_redrive: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
job_redrive: funnelwork_system may INSERT, SELECT, UPDATE
job_weight: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
job_weight: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
job_weight: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
mailbox: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
mailbox: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
mailbox: funnelwork_system may SELECT, UPDATE
mailbox_folder: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
mailbox_folder: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
mailbox_folder: funnelwork_system may SELECT, UPDATE
mailbox_provider: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
mailbox_provider: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
mailbox_provider: funnelwork_system may SELECT, UPDATE
mailbox_silence: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
mailbox_silence: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
mailbox_silence: funnelwork_system may SELECT
member: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
member: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
member: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
message: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
message: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
message: funnelwork_system may DELETE, SELECT
message_raw: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
message_raw: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
message_raw: funnelwork_system may DELETE, SELECT, UPDATE
note: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
note: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
oauth_state: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
oauth_state: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
oauth_state: funnelwork_system may DELETE, SELECT
org: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
org: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
org: funnelwork_system may INSERT, SELECT
org_key: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
org_key: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
org_key: funnelwork_system may SELECT, UPDATE
org_sending: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
org_sending: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
outreach_count: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
outreach_count: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
outreach_count: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
outreach_delta: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
outreach_delta: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
outreach_delta: funnelwork_system may DELETE, INSERT, SELECT
outreach_uncounted: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
outreach_uncounted: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
outreach_uncounted: funnelwork_system may DELETE, INSERT, SELECT
overview_state: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
overview_state: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
overview_state: funnelwork_system may INSERT, SELECT
partitioned: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
partitioned: funnelwork_app may SELECT
partitioned: funnelwork_system may SELECT
pipeline: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
pipeline: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
pipeline: funnelwork_system may INSERT, SELECT
pipeline_stage: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
pipeline_stage: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
pipeline_stage: funnelwork_system may INSERT
plan_addon: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
plan_addon: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
plan_change: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
plan_change: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
plan_change: funnelwork_system may SELECT
plan_change_step: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
plan_change_step: funnelwork_app may INSERT, SELECT
plan_override: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
plan_override: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
process: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
process: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
provider_event: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
provider_event: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
provider_event: funnelwork_system may DELETE, SELECT
quota: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
quota: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
quota: funnelwork_system may SELECT, UPDATE
quota_source: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
quota_source: funnelwork_app may SELECT
quota_source: funnelwork_system may SELECT
refolding: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
refolding: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
refolding: funnelwork_system may INSERT, SELECT
refresh_token: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
refresh_token: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
refresh_token: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
request_log: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
request_log: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
request_log: funnelwork_system may INSERT, SELECT
request_log_default: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sandbox_email: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sandbox_email: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
sandbox_email: funnelwork_system may DELETE, SELECT, UPDATE
sandbox_hook: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sandbox_hook: funnelwork_system may DELETE, INSERT, SELECT
sandbox_mail: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sandbox_mail: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
sandbox_mail: funnelwork_system may DELETE, SELECT
sandbox_oauth: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sandbox_oauth: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
sandbox_stripe: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sandbox_stripe: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
schedule_zone: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
schedule_zone: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
score_current: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
score_current: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
score_current: funnelwork_system may SELECT
score_history: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
score_history: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
score_model: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
score_model: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
score_snapshot: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
score_snapshot: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
score_training: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
score_training: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
sealing_key: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sealing_key: funnelwork_system may INSERT, SELECT, UPDATE
segment: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
segment: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
segment: funnelwork_system may SELECT, UPDATE
segment_entry: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
segment_entry: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
segment_entry: funnelwork_system may DELETE, SELECT
segment_mark: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
segment_mark: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
segment_mark: funnelwork_system may SELECT
segment_member: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
segment_member: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
segment_member: funnelwork_system may SELECT
segment_tally: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
segment_tally: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
segment_tally: funnelwork_system may SELECT
segment_watch: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
segment_watch: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
send_group: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
send_group: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
send_group: funnelwork_system may SELECT
sending_domain: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sending_domain: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
sending_domain: funnelwork_system may SELECT
sending_key: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sending_key: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
sending_key: funnelwork_system may SELECT, UPDATE
sequence: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sequence: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
sequence_step: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sequence_step: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
sequence_version: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
sequence_version: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
signing_key: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
signing_key: funnelwork_system may DELETE, INSERT, SELECT
social_account: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
social_account: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
social_account: funnelwork_system may SELECT, UPDATE
social_budget: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
social_budget: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
social_budget: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
social_grant: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
social_grant: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
social_grant: funnelwork_system may SELECT, UPDATE
social_hold: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
social_hold: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
social_hold: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
social_notice: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
social_notice: funnelwork_system may DELETE, INSERT, SELECT, UPDATE
social_pending: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
social_pending: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
social_pending: funnelwork_system may SELECT
staff_access: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
staff_access: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
staff_access: funnelwork_system may DELETE, SELECT
stripe_event: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
stripe_event: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
stripe_event: funnelwork_system may DELETE, INSERT, SELECT
stripe_subscription: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
stripe_subscription: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
stripe_subscription: funnelwork_system may SELECT
subscription: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
subscription: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
subscription: funnelwork_system may INSERT, SELECT, UPDATE
suppression: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
suppression: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
suppression_import: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
suppression_import: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
suppression_import: funnelwork_system may DELETE, SELECT
suppression_import_block: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
suppression_import_block: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
suppression_import_block: funnelwork_system may DELETE, SELECT
suppression_import_error: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
suppression_import_error: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
suppression_import_error: funnelwork_system may DELETE, SELECT
suppression_import_warning: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
suppression_import_warning: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
suppression_import_warning: funnelwork_system may DELETE, SELECT
system_mail: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
system_mail: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
system_mail: funnelwork_system may DELETE, INSERT, SELECT
task: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
task: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
template: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
template: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
thread: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
thread: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
thread: funnelwork_system may DELETE, SELECT
tick: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
tick: funnelwork_system may DELETE, INSERT, SELECT
timeline: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
timeline: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
user_token: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
user_token: funnelwork_system may DELETE, INSERT, SELECT
user_view: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
user_view: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
variant_comparison: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
variant_comparison: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
variant_comparison: funnelwork_system may SELECT
vocabulary: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
vocabulary: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
webhook_attempt: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
webhook_attempt: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
webhook_attempt: funnelwork_system may DELETE
webhook_attempt_default: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
webhook_delivery: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
webhook_delivery: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
webhook_delivery: funnelwork_system may DELETE
webhook_delivery_default: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
webhook_endpoint: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
webhook_endpoint: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
webhook_endpoint: funnelwork_system may SELECT
webhook_health: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
webhook_health: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
webhook_health: funnelwork_system may SELECT
webhook_replay: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
webhook_replay: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
webhook_replay: funnelwork_system may DELETE, SELECT
word_index: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
word_index: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
word_index: funnelwork_system may INSERT, SELECT, UPDATE
word_index_mark: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
word_index_mark: funnelwork_app may DELETE, INSERT, SELECT, UPDATE
word_index_mark: funnelwork_system may SELECT
word_index_page: funnelwork may DELETE, INSERT, REFERENCES, SELECT, TRIGGER, TRUNCATE, UPDATE
word_index_page: funnelwork_app may DELETE, INSERT, SELECT, UPDATE

-- functions
counts(IN t regclass, IN what text, IN gone text) as its caller
default_pipeline(org uuid) as its caller
detach_days() as its owner
domain_changes() as its owner
drop_archived(day text) as its owner
drop_partitions() as its owner
drop_unarchived() as its owner
emails_take(org uuid) as its caller
emails_used(org uuid) as its caller
engagement(org uuid, contact uuid, upto timestamp with time zone) as its caller
event_horizon() as its caller
event_seq(n integer) as its caller
expect_rows_of_orgs(rel regclass) as its caller
external_ids_kept() as its caller
fifth_minute(at timestamp with time zone) as its caller
job_died() as its caller
job_grams(said text) as its caller
job_pause_ends() as its caller
job_revived() as its caller
job_wake(in_org uuid, in_lane text, in_kind text, in_line uuid, at timestamp with time zone) as its caller
job_wake(org uuid, in_lane text, at timestamp with time zone) as its caller
late_event_seq(n integer) as its caller
lock_invited(address bytea) as its caller
mailbox_full_until(org uuid, mailbox uuid, cap integer) as its caller
mailbox_health(org uuid, mailbox uuid, since timestamp with time zone, OUT sent integer, OUT bounced integer, OUT complained integer) as its caller
mailbox_sent(org uuid, mailbox uuid) as its caller
mailbox_silent(org uuid, mailbox uuid) as its caller
mailbox_sync(org uuid, mailbox uuid) as its caller
make_partitions(days integer) as its owner
org_begins() as its caller
org_counts() as its caller
org_sells() as its caller
outreach_email_becomes() as its caller
outreach_email_comes() as its caller
outreach_email_delta(source uuid, of_step text, was email, now email, unsubscribing integer) as its caller
outreach_email_goes() as its caller
outreach_email_moves() as its caller
outreach_email_row(e email, sign integer) as its caller
outreach_enrolment() as its caller
outreach_enrolment_row(n enrolment, sign integer) as its caller
outreach_enrolments() as its caller
outreach_last_email(n enrolment, sign integer) as its caller
outreach_source() as its caller
outreach_xid() as its caller
publish_event_horizon(before bigint) as its caller
quota_count() as its caller
quota_key(org uuid, what text) as its caller
quota_level(used bigint, cap bigint) as its caller
quota_noted(org uuid, what text, step integer, n bigint) as its caller
quota_settle(org uuid, features text[], caps bigint[], overages boolean[]) as its caller
quota_truth(org uuid, what text) as its caller
refuse(what text, about text) as its caller
score_confirm(org uuid, used integer) as its caller
score_snapshots() as its caller
score_stage() as its caller
score_stage_follows() as its caller
sealed_key(sealed bytea) as its caller
segment_marks() as its caller
segment_marks_score() as its caller
segment_room() as its caller
segment_tallies() as its caller
system(IN t regclass, IN rights text) as its caller
take_invitation_mail(address bytea, most integer) as its owner
tenant(IN t regclass) as its caller
uuid_floor(at timestamp with time zone) as its caller
uuidv7_at(at timestamp with time zone) as its caller
word_index_mark_row() as its caller
word_index_marks() as its caller
