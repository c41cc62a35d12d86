package scoring

// Prior returns the shipped model, which every org uses until it has outcomes. Its weights combine what published lead
// scorers agree on (progress of the sale, whether a company is known, how many details are known, whether mails are
// answered and their links followed) and use no org's data. The base is a chance of one in eight.
func Prior() *Model {
	return &Model{
		Version:    "prior-1",
		Confidence: FromPrior,
		Intercept:  -1.95,
		Weights: map[Feature]map[string]float64{
			Stage: {
				"subscriber": -0.8, "lead": 0, "mql": 0.6, "sql": 1.2, "opportunity": 1.9, "customer": 2.6,
				"evangelist": 2.8, "other": -0.3,
			},
			Company:     {present: 0.4, absent: -0.15},
			EmailDomain: {business: 0.45, free: -0.3, disposable: -1.6},
			JobTitle:    {executive: 0.6, manager: 0.35, junior: -0.35, absent: -0.05, Other: 0.1},
			Phone:       {present: 0.25, absent: -0.05},
			Owner:       {present: 0.2},
			Attributes:  {some: 0.1, many: 0.2},
			Replies7:    {unengaged: 0, faint: 0.1, moderate: 0.3, strong: 0.4},
			Replies30:   {unengaged: 0, faint: 0.1, moderate: 0.3, strong: 0.4},
			Replies90:   {unengaged: 0, faint: 0.1, moderate: 0.3, strong: 0.4},
			Clicks7:     {unengaged: 0, faint: 0.05, moderate: 0.15, strong: 0.25},
			Clicks30:    {unengaged: 0, faint: 0.05, moderate: 0.15, strong: 0.25},
			Clicks90:    {unengaged: 0, faint: 0.05, moderate: 0.15, strong: 0.25},
			Source: {
				"referral": 0.7, "partner": 0.5, "demo": 0.8, "trial": 0.6, "event": 0.3, "webinar": 0.3,
				"inbound": 0.35, "website": 0.2,
				"organic": 0.2, "search": 0.15, "direct": 0.2, "chat": 0.3, "social": -0.05, "ads": 0.05,
				"outbound": -0.25,
				"cold":     -0.45, "list": -0.5, "purchased": -0.7, "scraped": -0.9, absent: 0, Other: 0.05,
			},
			Tag: {
				"hot": 0.9, "warm": 0.4, "cold": -0.7, "vip": 0.7, "enterprise": 0.6, "demo": 0.7, "trial": 0.6,
				"pricing": 0.7, "qualified": 0.8,
				"priority": 0.5, "decision-maker": 0.7, "champion": 0.7, "customer": 0.6, "partner": 0.4,
				"newsletter": 0.1, "webinar": 0.25,
				"student": -0.6, "competitor": -1.5, "unqualified": -1.4, "unsubscribed": -1.3, "bounced": -1.3,
				"spam": -2, "churned": -0.6,
				"do-not-contact": -2, Other: 0.15,
			},
		},
	}
}
