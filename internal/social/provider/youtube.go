package provider

import (
	"context"
	"errors"
	"net/url"
)

// youtube returns the spec for the channel that a person chose at consent.
func youtube() Spec {
	s := googleApp()
	s.Platform, s.Name, s.Kind, s.Several = "youtube", "YouTube", Social, true
	const auth = "https://www.googleapis.com/auth/"
	s.Scopes = []string{
		"openid", auth + "userinfo.profile", auth + "youtube", auth + "youtube.upload", auth + "youtube.readonly",
		auth + "youtube.force-ssl", auth + "yt-analytics.readonly",
	}
	s.Needed = []string{auth + "youtube.upload"}
	s.Dialect.Login = youtubeLogin
	return s
}

func youtubeLogin(ctx context.Context, p *Provider, t Token) (Login, []Account, error) {
	who, err := openidLogin(ctx, p, t, googleUserinfo)
	if err != nil {
		return Login{}, nil, err
	}
	type thumbnail struct {
		URL string `json:"url"`
	}
	var list struct {
		Items []struct {
			ID      string `json:"id"`
			Snippet struct {
				Title      string               `json:"title"`
				Thumbnails map[string]thumbnail `json:"thumbnails"`
			} `json:"snippet"`
		} `json:"items"`
	}
	err = p.Get(ctx, t, "https://www.googleapis.com/youtube/v3/channels",
		url.Values{"part": {"snippet"}, "mine": {"true"}, "maxResults": {"50"}}, nil, &list)
	if e := (*Error)(nil); errors.As(err, &e) && e.Code == "youtubeSignupRequired" {
		return p.several(who, nil) // the person has no channel
	}
	if err != nil {
		return Login{}, nil, err
	}
	var accounts []Account
	for _, c := range list.Items {
		accounts = append(accounts,
			Account{
				ExternalID: c.ID, DisplayName: named(c.Snippet.Title, c.ID),
				AvatarURL: c.Snippet.Thumbnails["default"].URL,
			})
	}
	return p.several(who, accounts)
}
