import{Ct as e,Ot as t,T as n,Yt as r,Zt as i,k as a,qt as o}from"./index-ClX10TDX.js";import{t as s}from"./code-DPZE9-Xy.js";import{t as c}from"./tabs-WoxAJsh4.js";import{O as l,m as u,w as d}from"./list-iBV2Dz2q.js";import{n as f,t as p}from"./field-DJYVHjNP.js";import{t as m}from"./webhooks.module-Bu-Jb8WU.js";var h=i(r(),1),g=o();function _(e){let t=e.trim();return t===``?null:/^\d{1,9}$/.test(t)?Number(t):void 0}function v(e,t=``){let n=t.trim().toLowerCase(),r=new Map;for(let t of e){if(!`${t.type} ${t.description}`.toLowerCase().includes(n))continue;let e=y(t.type);r.set(e,[...r.get(e)??[],t])}return[...r].map(([e,t])=>({noun:e,types:t}))}function y(e){let t=e.slice(0,e.lastIndexOf(`.`)).replaceAll(/[._]/g,` `);return t.charAt(0).toUpperCase()+t.slice(1)}function b(e,t,n){let r=e.filter(e=>e!==t);return n?[...r,t]:r}function x(e,t,n){let r=e.filter(e=>!t.some(({type:t})=>t===e));return n?[...r,...t.map(({type:e})=>e)]:r}var S={picker:`_picker_17li6_1`,head:`_head_17li6_7`,find:`_find_17li6_13`,body:`_body_17li6_20`,group:`_group_17li6_33`,legend:`_legend_17li6_39`},C=e({all:`All events`,allHelp:`Those that later versions add, too.`,search:`Search event types`,chosen:{one:`{count} type chosen`,other:`{count} types chosen`},none:`No event type matches`,later:`Not emitted yet`});function w({value:e,onChange:r}){let i=a(`/api/v1/event-types`),[o,s]=(0,h.useState)(``),c=(0,h.useMemo)(()=>i.data?.data??[],[i.data]),f=(0,h.useMemo)(()=>v(c,o),[c,o]),p=e.includes(`*`);return(0,g.jsxs)(`div`,{className:S.picker,role:`group`,"aria-label":`Event types`,children:[(0,g.jsxs)(`div`,{className:S.head,children:[(0,g.jsx)(l,{label:C(`all`),help:C(`allHelp`),checked:p,onChange:e=>r(e?[`*`]:[])}),!p&&(0,g.jsxs)(`div`,{className:S.find,children:[(0,g.jsx)(u,{label:C(`search`),value:o,onChange:s}),(0,g.jsx)(`span`,{className:`meta num`,"aria-live":`polite`,children:C(`chosen`,{count:e.length})})]})]}),!p&&(0,g.jsxs)(`div`,{className:S.body,tabIndex:0,role:`region`,"aria-label":`Groups of event types`,children:[i.data===void 0&&(0,g.jsx)(n,{width:`70%`}),i.data!==void 0&&f.length===0&&(0,g.jsx)(`p`,{className:`meta`,children:C(`none`)}),f.map(({noun:n,types:i})=>{let a=i.filter(t=>e.includes(t.type)).length;return(0,g.jsxs)(`fieldset`,{className:S.group,children:[(0,g.jsxs)(`legend`,{className:S.legend,children:[(0,g.jsx)(l,{label:n,checked:a===i.length,mixed:a>0&&a<i.length,onChange:t=>r(x(e,i,t))}),(0,g.jsx)(`span`,{className:`meta num`,children:`${t(a)}/${t(i.length)}`})]}),i.map(t=>(0,g.jsx)(l,{label:(0,g.jsxs)(g.Fragment,{children:[(0,g.jsx)(`code`,{children:t.type}),` `,!t.live&&(0,g.jsx)(d,{children:C(`later`)})]}),help:t.description,checked:e.includes(t.type),onChange:n=>r(b(e,t.type,n))},t.type))]},n)})]})]})}var T=e({url:`Endpoint address`,urlHelp:`A public https address. It gets a POST for each event and answers 2xx within 15 seconds.`,events:`Events`,description:`Description`,descriptionHelp:`What it is for, for your colleagues.`,rate:`Rate limit`,rateHelp:`Deliveries per second. More wait their turn; none is lost.`,rateError:`A whole number of deliveries per second.`,perSecond:`per second`});function E({value:e,onChange:t,eventsError:n,autoFocus:r=!1}){return(0,g.jsxs)(g.Fragment,{children:[(0,g.jsx)(p,{label:T(`url`),pointer:`/url`,help:T(`urlHelp`),children:(0,g.jsx)(f,{type:`url`,mono:!0,autoFocus:r,autoComplete:`off`,placeholder:`https://example.com/webhooks`,value:e.url,onChange:n=>t({...e,url:n.target.value})})}),(0,g.jsxs)(`div`,{className:m.block,children:[(0,g.jsx)(`h3`,{className:m.label,children:T(`events`)}),(0,g.jsx)(w,{value:e.events,onChange:n=>t({...e,events:n})}),n!==void 0&&(0,g.jsx)(`p`,{className:m.error,role:`alert`,children:n})]}),(0,g.jsx)(p,{label:T(`description`),pointer:`/description`,help:T(`descriptionHelp`),optional:!0,children:(0,g.jsx)(f,{maxLength:500,value:e.description,onChange:n=>t({...e,description:n.target.value})})}),(0,g.jsx)(p,{label:T(`rate`),pointer:`/rate_limit`,help:T(`rateHelp`),optional:!0,error:_(e.rateLimit)===void 0?T(`rateError`):void 0,children:(0,g.jsx)(f,{inputMode:`numeric`,className:`num`,after:(0,g.jsx)(`span`,{className:m.unit,children:T(`perSecond`)}),value:e.rateLimit,onChange:n=>t({...e,rateLimit:n.target.value})})})]})}var D=`// Package hooks verifies webhooks. It needs nothing but the standard library.
package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func sign(key []byte, parts ...string) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		m.Write([]byte(p))
	}
	return m.Sum(nil)
}

// Verify reports whether body, the bytes as they arrived, was signed with secret. It is the short way: it does not
// notice a delivery that somebody recorded and sends again.
func Verify(secret string, h http.Header, body []byte) bool {
	want := hex.EncodeToString(sign([]byte(secret), string(body)))
	ok := false
	for _, given := range strings.Split(h.Get("X-Service-Signature"), ",") {
		ok = hmac.Equal([]byte(strings.TrimSpace(given)), []byte(want)) || ok
	}
	return ok
}

// VerifyFresh is the Standard Webhooks way: it also covers the id and the time, and refuses what is older, or
// newer, than five minutes. Remember each webhook-id for as long, and nothing can be sent twice.
func VerifyFresh(secret string, h http.Header, body []byte) bool {
	id, at := h.Get("webhook-id"), h.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if age := time.Since(time.Unix(seconds, 0)); err != nil || age.Abs() > 5*time.Minute {
		return false
	}
	key := []byte(secret)
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return false
		}
	}
	want := "v1," + base64.StdEncoding.EncodeToString(sign(key, id, ".", at, ".", string(body)))
	ok := false
	for _, given := range strings.Split(h.Get("webhook-signature"), " ") {
		ok = hmac.Equal([]byte(given), []byte(want)) || ok
	}
	return ok
}
`,O=`// Verifies webhooks with nothing but Node. headers: an object with lower-case names; body: a Buffer.
import { createHmac, timingSafeEqual } from 'node:crypto'

const equal = (a, b) => a.length === b.length && timingSafeEqual(a, b)

// Whether body, the bytes as they arrived, was signed with secret. It is the short way: it does not notice a
// delivery that somebody recorded and sends again.
export function verify(secret, headers, body) {
  const want = Buffer.from(createHmac('sha256', secret).update(body).digest('hex'))
  const given = (headers['x-service-signature'] ?? '').split(',')
  return given.map((g) => equal(Buffer.from(g.trim()), want)).includes(true)
}

// The Standard Webhooks way: it also covers the id and the time, and refuses what is older, or newer, than five
// minutes. Remember each webhook-id for as long, and nothing can be sent twice.
export function verifyFresh(secret, headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': at } = headers
  if (!id || !/^\\d+$/.test(at ?? '') || Math.abs(Date.now() / 1000 - Number(at)) > 300) return false
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : secret
  const mac = createHmac('sha256', key).update(\`\${id}.\${at}.\`).update(body).digest('base64')
  const given = (headers['webhook-signature'] ?? '').split(' ')
  return given.map((g) => equal(Buffer.from(g), Buffer.from(\`v1,\${mac}\`))).includes(true)
}
`,k=`"""Verifies webhooks with nothing but the standard library. headers: a mapping with lower-case names."""
import base64
import hashlib
import hmac
import time


def verify(secret: str, headers, body: bytes) -> bool:
    """Whether body, the bytes as they arrived, was signed with secret. It is the short way: it does not notice a
    delivery that somebody recorded and sends again."""
    want = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().encode()
    given = headers.get("x-service-signature", "").encode().split(b",")
    return any([hmac.compare_digest(g.strip(), want) for g in given])


def verify_fresh(secret: str, headers, body: bytes) -> bool:
    """The Standard Webhooks way: it also covers the id and the time, and refuses what is older, or newer, than five
    minutes. Remember each webhook-id for as long, and nothing can be sent twice."""
    try:
        id, at = headers["webhook-id"], headers["webhook-timestamp"]
        if abs(time.time() - int(at)) > 300:
            return False
        key = secret.encode()
        if secret.startswith("whsec_"):
            key = base64.b64decode(secret[len("whsec_"):], validate=True)
    except (KeyError, ValueError):
        return False
    signed = f"{id}.{at}.".encode() + body
    want = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any([hmac.compare_digest(g, want) for g in given])
`,A=e({title:`Verify what arrives`,node:`Node`,python:`Python`,go:`Go`}),j={node:O,python:k,go:D},M=[`node`,`python`,`go`];function N(){let[e,t]=(0,h.useState)(`node`);return(0,g.jsx)(c,{label:A(`title`),value:e,onChange:t,tabs:M.map(e=>({value:e,label:A(e),content:(0,g.jsx)(s,{title:A(`title`),text:j[e]})}))})}export{E as n,_ as r,N as t};