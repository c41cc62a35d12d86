package api_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

type thingPage struct {
	Data []struct {
		ID, Name string
		Tag      []string
	}
	HasMore    bool    `json:"has_more"`
	NextCursor *string `json:"next_cursor"`
}

func TestPagesHoldEveryRowOnce(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	want := []string{}
	for n := range 23 {
		name := fmt.Sprintf("n%02d", n)
		c.do("POST", things, map[string]any{"name": name}).want(t, 201, "")
		want = append(want, name)
	}
	for _, limit := range []int{1, 5, 22, 23, 24, 200} {
		var got []string
		pages, cursor := 0, ""
		for {
			var p thingPage
			c.do("GET", fmt.Sprintf("%s?limit=%d%s", things, limit, cursor), nil).want(t, 200, "").into(t, &p)
			pages++
			for _, one := range p.Data {
				got = append(got, one.Name)
			}
			if p.HasMore != (p.NextCursor != nil) {
				t.Fatal("has_more and next_cursor disagree")
			}
			if !p.HasMore {
				break
			}
			cursor = "&cursor=" + *p.NextCursor
		}
		if !slices.Equal(got, want) || pages != (23+limit-1)/limit {
			t.Errorf("limit %d: %d pages: %v", limit, pages, got)
		}
	}
	var none thingPage
	if got := c.do("GET", things+"?name=nobody",
		nil); string(got.Body) != "{\"data\":[],\"has_more\":false,\"next_cursor\":null}\n" {
		got.into(t, &none)
		t.Errorf("an empty list is %s", got.Body)
	}
}

func TestACursorIsOfOneOrgAndOneList(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	c, other := s.signup(), s.signup()
	for _, who := range []*caller{c, other} {
		for n := range 3 {
			who.do("POST", things, map[string]any{"name": fmt.Sprint(n)}).want(t, 201, "")
		}
	}
	var p thingPage
	c.do("GET", things+"?limit=1", nil).into(t, &p)
	cursor := *p.NextCursor
	c.do("GET", things+"?limit=2&cursor="+cursor, nil).want(t, 200, "")
	other.do("GET", things+"?limit=1&cursor="+cursor, nil).want(t, 400, "invalid_cursor")
	c.do("GET", things+"?limit=1&name=1&cursor="+cursor, nil).want(t, 400, "invalid_cursor")
	c.do("GET", things+"?limit=2&name=&cursor="+cursor, nil).want(t, 200, "")
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	for n := range raw {
		bent := slices.Clone(raw)
		bent[n] ^= 1
		c.do("GET", things+"?cursor="+base64.RawURLEncoding.EncodeToString(bent), nil).want(t, 400, "invalid_cursor")
	}
	for _, bad := range []string{
		cursor[:len(cursor)-2], cursor + "A", url.QueryEscape(cursor + "="), "AAAA",
		cursor + "%0a", cursor[:4] + "%0d%0a" + cursor[4:], strings.Repeat("A", 3000),
	} {
		c.do("GET", things+"?cursor="+bad, nil).want(t, 400, "invalid_cursor")
	}
}
