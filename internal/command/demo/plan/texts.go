package plan

var (
	firstWords = []string{
		"Alder", "Amber", "Anchor", "Atlas", "Birch", "Bluebird", "Bright", "Cedar", "Clearwater", "Cobalt", "Copper",
		"Coral", "Delta", "Eastgate", "Ember", "Falcon", "Fjord", "Granite", "Harbor", "Hazel", "Heron", "Juniper",
		"Keystone", "Lakeside", "Linden", "Lumen", "Maple", "Meridian", "Northwind", "Oakfield", "Orchid", "Pioneer",
		"Quarry", "Redwood", "Saffron", "Silver", "Solstice", "Summit", "Tidewater", "Willow",
	}
	secondWords = []string{
		"Analytics", "Bakery", "Clinics", "Consulting", "Design", "Energy", "Engineering", "Foods", "Freight",
		"Hospitality", "Insurance", "Labs", "Learning", "Logistics", "Media", "Motors", "Partners", "Pharma", "Retail",
		"Robotics", "Software", "Studios", "Textiles", "Travel",
	}
	industries = []string{
		"Software", "Manufacturing", "Retail", "Health care", "Education", "Logistics", "Financial services",
		"Hospitality", "Media", "Energy", "Construction", "Food and beverages",
	}
	sizes = []share[string]{
		{"1-10", 30}, {"11-50", 34}, {"51-200", 20}, {"201-1000", 11}, {"1001-5000", 4}, {"5000+", 1},
	}
	products = []string{
		"Starter plan", "Team plan", "Onboarding package", "Data migration", "Support plan", "API access",
	}

	firstStages = []share[string]{{"lead", 62}, {"subscriber", 28}, {"mql", 10}}
	sources     = []share[string]{
		{"website", 24},
		{"organic", 16},
		{"ads", 15},
		{"referral", 11},
		{"webinar", 9},
		{"event", 8},
		{"partner", 6},
		{"social", 6},
		{"list", 5},
	}
	sourceWeights = map[string]float64{
		"referral": 1.1, "partner": 0.7, "webinar": 0.25, "event": 0.2, "organic": 0.1, "website": 0, "social": -0.35,
		"ads": -0.5, "list": -1,
	}
	titles = []share[string]{
		{"Chief executive officer", 5},
		{"Chief technology officer", 5},
		{"VP Sales", 6},
		{"Head of marketing", 9},
		{"Director of operations", 8},
		{"Sales manager", 13},
		{"Marketing manager", 14},
		{"Product manager", 9},
		{"Software engineer", 12},
		{"Office manager", 8},
		{"Marketing assistant", 7},
		{"Intern", 4},
	}
	titleWeights = map[string]float64{
		"Chief executive officer": 0.8, "Chief technology officer": 0.6, "VP Sales": 0.8, "Head of marketing": 0.6,
		"Director of operations": 0.5, "Sales manager": 0.3, "Marketing manager": 0.3, "Product manager": 0.1,
		"Software engineer": -0.2, "Office manager": -0.1, "Marketing assistant": -0.5, "Intern": -1,
	}
	// the weight is the percentage of contacts that have the tag
	tagShares  = []share[string]{{"newsletter", 35}, {"demo", 9}, {"enterprise", 8}, {"trial", 12}, {"partner", 3}}
	tagWeights = map[string]float64{"demo": 0.7, "enterprise": 0.5, "trial": 0.4, "partner": 0.3, "student": -1.2}

	currencies  = []share[string]{{"USD", 62}, {"EUR", 24}, {"GBP", 10}, {"JPY", 4}}
	priorities  = []share[string]{{"normal", 65}, {"high", 22}, {"low", 13}}
	lostReasons = []share[string]{
		{"Price", 28},
		{"No budget this year", 22},
		{"Chose a competitor", 20},
		{"No answer", 18},
		{"A feature is missing", 8},
		{"Project was cancelled", 4},
	}
	dealNotes = []string{
		"Call with {name}: they like the {product}, but need a quote that their finance team can approve this month.",
		"{name} asked whether the {product} can be paid by invoice, 30 days. Sent our terms.",
		"Demo for {customer} with four people. Main questions: data import, roles, and how webhooks are signed.",
		"{name} is on holiday until next week; a colleague decides about the {product} in the meantime.",
		"Security questionnaire from {customer} answered and sent back.",
		"{customer} compares us with two others. Price is close; they prefer our support.",
		"Agreed on a start date. {name} sends the signed contract.",
	}
	contactNotes = []string{
		"Met {name} at the trade fair. Interested in the {product}; no project before next quarter.",
		"{name} downloaded the guide on lead scoring and answered our mail with two questions.",
		"Wrong contact for purchases. {name} will introduce us to a colleague.",
		"{name} would like to hear from us again when single sign-on is there.",
	}
	dealTasks = []string{
		"Send the quote to {name}", "Call {name} about the {product}", "Prepare the demo for {customer}",
		"Ask {customer} for the signed contract", "Check the payment terms of {customer}",
		"Introduce {name} to the onboarding team",
	}
	contactTasks = []string{
		"Answer the question of {name}", "Invite {name} to the next webinar", "Find out who decides at {customer}",
	}
)
