package stripe_test

import (
	"testing"

	api "github.com/stripe/stripe-go/v76"
	"github.com/stripe/stripe-go/v76/client"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
)

type ids = map[string]string

// calls lists every request that billing makes to Stripe, ordered by their dependencies.
var calls = []apiCall{
	{name: "product", keep: "product", do: func(sc *client.API, id ids) (any, error) {
		p := &api.ProductParams{
			ID: api.String("funnelwork_solo"), Name: api.String("Solo"),
			Description: api.String("For one"),
		}
		p.AddMetadata("plan", "solo_pro")
		return sc.Products.New(p)
	}},
	{name: "product update", do: func(sc *client.API, id ids) (any, error) {
		return sc.Products.Update(id["product"],
			&api.ProductParams{Name: api.String("Solo Pro"), Active: api.Bool(true)})
	}},
	{name: "product get", do: func(sc *client.API, id ids) (any, error) { return sc.Products.Get(id["product"], nil) }},
	{name: "product list", do: func(sc *client.API, id ids) (any, error) {
		it := sc.Products.List(&api.ProductListParams{Active: api.Bool(true)})
		return it.ProductList(), it.Err()
	}},
	{name: "price", keep: "month", do: func(sc *client.API, id ids) (any, error) {
		return sc.Prices.New(priceOf(id, "solo_pro:month", 2900, "month"))
	}},
	{name: "price by the year", keep: "year", do: func(sc *client.API, id ids) (any, error) {
		return sc.Prices.New(priceOf(id, "solo_pro:year", 29000, "year"))
	}},
	{name: "price of more", keep: "more", do: func(sc *client.API, id ids) (any, error) {
		return sc.Prices.New(priceOf(id, "agency:month", 9900, "month"))
	}},
	{name: "price of overage", keep: "overage", do: func(sc *client.API, id ids) (any, error) {
		return sc.Prices.New(priceOf(id, "client_org_overage:month", 1500, "month"))
	}},
	{name: "price update", do: func(sc *client.API, id ids) (any, error) {
		return sc.Prices.Update(id["year"], &api.PriceParams{Active: api.Bool(false)})
	}},
	{name: "price list", do: func(sc *client.API, id ids) (any, error) {
		p := &api.PriceListParams{
			LookupKeys: api.StringSlice([]string{"solo_pro:month", "agency:month"}),
			Active:     api.Bool(true),
		}
		p.AddExpand("data.product")
		it := sc.Prices.List(p)
		return it.PriceList(), it.Err()
	}},
	{name: "customer", keep: "customer", do: func(sc *client.API, id ids) (any, error) {
		p := &api.CustomerParams{Email: api.String("bob@example.com"), Name: api.String("Acme")}
		p.AddMetadata("org_id", "0192")
		p.SetIdempotencyKey("cus:0192")
		return sc.Customers.New(p)
	}},
	{name: "customer update", do: func(sc *client.API, id ids) (any, error) {
		return sc.Customers.Update(id["customer"], &api.CustomerParams{Name: api.String("Acme Ltd")})
	}},
	{name: "customer get", do: func(sc *client.API, id ids) (any, error) {
		p := &api.CustomerParams{}
		p.AddExpand("invoice_settings.default_payment_method")
		return sc.Customers.Get(id["customer"], p)
	}},
	{name: "customer list", do: func(sc *client.API, id ids) (any, error) {
		it := sc.Customers.List(&api.CustomerListParams{Email: api.String("bob@example.com")})
		return it.CustomerList(), it.Err()
	}},
	{name: "customer search", do: func(sc *client.API, id ids) (any, error) {
		it := sc.Customers.Search(
			&api.CustomerSearchParams{SearchParams: api.SearchParams{Query: "metadata['org_id']:'0192'"}})
		return it.CustomerSearchResult(), it.Err()
	}},
	{name: "customer balance", do: func(sc *client.API, id ids) (any, error) {
		return sc.CustomerBalanceTransactions.New(
			&api.CustomerBalanceTransactionParams{
				Customer: api.String(id["customer"]), Amount: api.Int64(-100),
				Currency: api.String("usd"),
			})
	}},
	{name: "payment methods", do: func(sc *client.API, id ids) (any, error) {
		it := sc.PaymentMethods.List(&api.PaymentMethodListParams{
			Customer: api.String(id["customer"]),
			Type:     api.String("card"),
		})
		return it.PaymentMethodList(), it.Err()
	}},
	{name: "payment method attach", keep: "card", do: func(sc *client.API, id ids) (any, error) {
		return sc.PaymentMethods.Attach("pm_card_mastercard",
			&api.PaymentMethodAttachParams{Customer: api.String(id["customer"])})
	}},
	{name: "payment method as default", do: func(sc *client.API, id ids) (any, error) {
		return sc.Customers.Update(id["customer"],
			&api.CustomerParams{
				InvoiceSettings: &api.CustomerInvoiceSettingsParams{DefaultPaymentMethod: api.String(id["card"])},
			})
	}},
	{name: "subscription", keep: "subscription", do: func(sc *client.API, id ids) (any, error) {
		p := &api.SubscriptionParams{
			Customer:        api.String(id["customer"]),
			Items:           []*api.SubscriptionItemsParams{{Price: api.String(id["month"]), Quantity: api.Int64(1)}},
			PaymentBehavior: api.String("default_incomplete"),
			PaymentSettings: &api.SubscriptionPaymentSettingsParams{
				SaveDefaultPaymentMethod: api.String("on_subscription"),
			},
		}
		p.AddMetadata("org_id", "0192")
		p.AddExpand("latest_invoice.payment_intent")
		p.SetIdempotencyKey("sub:0192")
		return sc.Subscriptions.New(p)
	}, after: func(t *testing.T, w *world, id ids) {
		s := w.sub(id["subscription"])
		id["item"], id["first"], id["intent"] = s.Items.Data[0].ID, s.LatestInvoice.ID, s.LatestInvoice.PaymentIntent.ID
	}},
	{name: "payment intent get", do: func(sc *client.API, id ids) (any, error) {
		return sc.PaymentIntents.Get(id["intent"], nil)
	}},
	{name: "payment intent confirm", do: func(sc *client.API, id ids) (any, error) {
		return sc.PaymentIntents.Confirm(id["intent"],
			&api.PaymentIntentConfirmParams{PaymentMethod: api.String(id["card"])})
	}, after: func(t *testing.T, w *world, id ids) {
		id["charge"] = must(w.sc.PaymentIntents.Get(id["intent"], nil))(t).LatestCharge.ID
	}},
	{name: "charge get", do: func(sc *client.API, id ids) (any, error) { return sc.Charges.Get(id["charge"], nil) }},
	{name: "upcoming", do: func(sc *client.API, id ids) (any, error) {
		return sc.Invoices.Upcoming(&api.InvoiceUpcomingParams{
			Customer: api.String(id["customer"]), Subscription: api.String(id["subscription"]),
			SubscriptionProrationBehavior: api.String("always_invoice"),
			SubscriptionItems: []*api.SubscriptionItemsParams{{
				ID:    api.String(id["item"]),
				Price: api.String(id["more"]), Quantity: api.Int64(1),
			}},
			SubscriptionProrationDate: api.Int64(epoch.Unix()),
		})
	}},
	{name: "upcoming lines", do: func(sc *client.API, id ids) (any, error) {
		it := sc.Invoices.UpcomingLines(&api.InvoiceUpcomingLinesParams{
			Customer:     api.String(id["customer"]),
			Subscription: api.String(id["subscription"]),
		})
		return it.InvoiceLineItemList(), it.Err()
	}},
	{name: "subscription swap", do: func(sc *client.API, id ids) (any, error) {
		p := &api.SubscriptionParams{
			Items: []*api.SubscriptionItemsParams{{
				ID:    api.String(id["item"]),
				Price: api.String(id["more"]), Quantity: api.Int64(1),
			}},
			ProrationBehavior: api.String("always_invoice"), PaymentBehavior: api.String("pending_if_incomplete"),
			ProrationDate: api.Int64(epoch.Unix()),
		}
		p.AddExpand("latest_invoice.payment_intent")
		p.SetIdempotencyKey("pc:1")
		return sc.Subscriptions.Update(id["subscription"], p)
	}, after: func(t *testing.T, w *world, id ids) { w.card(id["customer"], stripe.ThreeDS) }},
	{name: "subscription swap that waits", do: func(sc *client.API, id ids) (any, error) {
		p := &api.SubscriptionParams{
			Items: []*api.SubscriptionItemsParams{{
				ID:    api.String(id["item"]),
				Price: api.String(id["more"]), Quantity: api.Int64(2),
			}},
			ProrationBehavior: api.String("always_invoice"), PaymentBehavior: api.String("pending_if_incomplete"),
		}
		p.AddExpand("latest_invoice.payment_intent")
		return sc.Subscriptions.Update(id["subscription"], p)
	}, after: func(t *testing.T, w *world, id ids) { id["waiting"] = w.sub(id["subscription"]).LatestInvoice.ID }},
	{
		name: "invoice void", do: func(sc *client.API, id ids) (any, error) {
			return sc.Invoices.VoidInvoice(id["waiting"], nil)
		},
		after: func(t *testing.T, w *world, id ids) { w.card(id["customer"], stripe.Works) },
	},
	{name: "subscription with overage", do: func(sc *client.API, id ids) (any, error) {
		return sc.Subscriptions.Update(id["subscription"], &api.SubscriptionParams{
			Items: []*api.SubscriptionItemsParams{{
				Price:    api.String(id["overage"]),
				Quantity: api.Int64(3),
			}},
			ProrationBehavior: api.String("create_prorations"),
		})
	}},
	{name: "subscription get", do: func(sc *client.API, id ids) (any, error) {
		p := &api.SubscriptionParams{}
		p.AddExpand("latest_invoice.payment_intent")
		p.AddExpand("items.data.price.product")
		p.AddExpand("schedule")
		return sc.Subscriptions.Get(id["subscription"], p)
	}},
	{name: "subscription list", do: func(sc *client.API, id ids) (any, error) {
		p := &api.SubscriptionListParams{Customer: api.String(id["customer"]), Status: api.String("all")}
		p.Limit = api.Int64(100)
		p.AddExpand("data.latest_invoice")
		it := sc.Subscriptions.List(p)
		return it.SubscriptionList(), it.Err()
	}},
	{name: "schedule", keep: "schedule", do: func(sc *client.API, id ids) (any, error) {
		return sc.SubscriptionSchedules.New(
			&api.SubscriptionScheduleParams{FromSubscription: api.String(id["subscription"])})
	}},
	{name: "schedule update", do: func(sc *client.API, id ids) (any, error) {
		next := epoch.AddDate(0, 1, 0).Unix()
		p := &api.SubscriptionScheduleParams{
			EndBehavior:       api.String("release"),
			ProrationBehavior: api.String("none"), Phases: []*api.SubscriptionSchedulePhaseParams{
				{
					StartDate: api.Int64(epoch.Unix()), EndDate: api.Int64(next),
					Items: []*api.SubscriptionSchedulePhaseItemParams{
						{Price: api.String(id["more"]), Quantity: api.Int64(1)},
						{Price: api.String(id["overage"]), Quantity: api.Int64(3)},
					},
				},
				{
					StartDate: api.Int64(next), Iterations: api.Int64(1), ProrationBehavior: api.String("none"),
					Items: []*api.SubscriptionSchedulePhaseItemParams{{
						Price:    api.String(id["month"]),
						Quantity: api.Int64(1),
					}},
				},
			},
		}
		p.AddMetadata("change", "2")
		return sc.SubscriptionSchedules.Update(id["schedule"], p)
	}},
	{name: "schedule get", do: func(sc *client.API, id ids) (any, error) {
		return sc.SubscriptionSchedules.Get(id["schedule"], nil)
	}},
	{name: "schedule release", do: func(sc *client.API, id ids) (any, error) {
		return sc.SubscriptionSchedules.Release(id["schedule"], nil)
	}},
	{name: "subscription cancel at the end", do: func(sc *client.API, id ids) (any, error) {
		return sc.Subscriptions.Update(id["subscription"], &api.SubscriptionParams{CancelAtPeriodEnd: api.Bool(true)})
	}},
	{name: "subscription resume", do: func(sc *client.API, id ids) (any, error) {
		return sc.Subscriptions.Update(id["subscription"], &api.SubscriptionParams{CancelAtPeriodEnd: api.Bool(false)})
	}},
	{name: "invoice get", do: func(sc *client.API, id ids) (any, error) {
		p := &api.InvoiceParams{}
		p.AddExpand("payment_intent")
		p.AddExpand("charge")
		return sc.Invoices.Get(id["first"], p)
	}},
	{name: "invoice list", do: func(sc *client.API, id ids) (any, error) {
		it := sc.Invoices.List(&api.InvoiceListParams{
			Customer:     api.String(id["customer"]),
			Subscription: api.String(id["subscription"]), Status: api.String("paid"),
		})
		return it.InvoiceList(), it.Err()
	}},
	{name: "invoice item", keep: "invoice item", do: func(sc *client.API, id ids) (any, error) {
		return sc.InvoiceItems.New(&api.InvoiceItemParams{
			Customer: api.String(id["customer"]),
			Amount:   api.Int64(700), Currency: api.String("usd"), Description: api.String("Setup"),
		})
	}},
	{name: "invoice", keep: "invoice", do: func(sc *client.API, id ids) (any, error) {
		return sc.Invoices.New(&api.InvoiceParams{
			Customer:                    api.String(id["customer"]),
			PendingInvoiceItemsBehavior: api.String("include"), AutoAdvance: api.Bool(false),
		})
	}},
	{name: "invoice finalize", do: func(sc *client.API, id ids) (any, error) {
		return sc.Invoices.FinalizeInvoice(id["invoice"], nil)
	}},
	{name: "invoice pay", do: func(sc *client.API, id ids) (any, error) { return sc.Invoices.Pay(id["invoice"], nil) }},
	{name: "invoice lines", do: func(sc *client.API, id ids) (any, error) {
		it := sc.Invoices.ListLines(&api.InvoiceListLinesParams{Invoice: api.String(id["first"])})
		return it.InvoiceLineItemList(), it.Err()
	}},
	{name: "refund", keep: "refund", do: func(sc *client.API, id ids) (any, error) {
		return sc.Refunds.New(&api.RefundParams{Charge: api.String(id["charge"]), Amount: api.Int64(100)})
	}},
	{name: "refunded charge", do: func(sc *client.API, id ids) (any, error) {
		return sc.Charges.Get(id["charge"], nil)
	}},
	{name: "portal", do: func(sc *client.API, id ids) (any, error) {
		return sc.BillingPortalSessions.New(&api.BillingPortalSessionParams{
			Customer:  api.String(id["customer"]),
			ReturnURL: api.String("https://crm.example.com/billing"),
		})
	}},
	{name: "events", do: func(sc *client.API, id ids) (any, error) {
		p := &api.EventListParams{
			Types:        api.StringSlice([]string{"customer.subscription.updated", "price.created"}),
			CreatedRange: &api.RangeQueryParams{GreaterThanOrEqual: epoch.Unix()},
		}
		p.Limit = api.Int64(100)
		it := sc.Events.List(p)
		return it.EventList(), it.Err()
	}},
	{name: "events undelivered", do: func(sc *client.API, id ids) (any, error) {
		it := sc.Events.List(&api.EventListParams{DeliverySuccess: api.Bool(true)})
		return it.EventList(), it.Err()
	}},
	{name: "webhook endpoint", keep: "endpoint", do: func(sc *client.API, id ids) (any, error) {
		return sc.WebhookEndpoints.New(&api.WebhookEndpointParams{
			URL:           api.String("https://crm.example.com/billing/stripe/webhook"),
			EnabledEvents: api.StringSlice([]string{"invoice.paid"}), APIVersion: api.String(api.APIVersion),
		})
	}},
	{name: "webhook endpoint update", do: func(sc *client.API, id ids) (any, error) {
		return sc.WebhookEndpoints.Update(id["endpoint"],
			&api.WebhookEndpointParams{EnabledEvents: api.StringSlice([]string{"invoice.paid", "invoice.voided"})})
	}},
	{name: "webhook endpoint delete", do: func(sc *client.API, id ids) (any, error) {
		return sc.WebhookEndpoints.Del(id["endpoint"], nil)
	}},
	{name: "account", keep: "account", do: func(sc *client.API, id ids) (any, error) {
		p := &api.AccountParams{
			Type: api.String("standard"), Country: api.String("US"),
			Email: api.String("reseller@example.com"), Capabilities: &api.AccountCapabilitiesParams{
				CardPayments: &api.AccountCapabilitiesCardPaymentsParams{Requested: api.Bool(true)},
				Transfers:    &api.AccountCapabilitiesTransfersParams{Requested: api.Bool(true)},
			},
		}
		p.SetIdempotencyKey("acct:0192")
		return sc.Accounts.New(p)
	}},
	{name: "account link", do: func(sc *client.API, id ids) (any, error) {
		return sc.AccountLinks.New(&api.AccountLinkParams{
			Account: api.String(id["account"]), RefreshURL: api.String("https://crm.example.com/again"),
			ReturnURL: api.String("https://crm.example.com/done"), Type: api.String("account_onboarding"),
			CollectionOptions: &api.AccountLinkCollectionOptionsParams{
				Fields:             api.String("eventually_due"),
				FutureRequirements: api.String("include"),
			},
		})
	}, after: func(t *testing.T, w *world, id ids) {
		if err := w.s.SetAccount(t.Context(), id["account"], stripe.Enabled); err != nil {
			t.Fatal(err)
		}
	}},
	{name: "account get", do: func(sc *client.API, id ids) (any, error) {
		return sc.Accounts.GetByID(id["account"], nil)
	}},
	{name: "transfer", keep: "transfer", do: func(sc *client.API, id ids) (any, error) {
		return sc.Transfers.New(&api.TransferParams{
			Amount: api.Int64(500), Currency: api.String("usd"),
			Destination: api.String(id["account"]), TransferGroup: api.String("g1"),
		})
	}},
	{name: "transfer reversal", do: func(sc *client.API, id ids) (any, error) {
		return sc.TransferReversals.New(&api.TransferReversalParams{
			ID:     api.String(id["transfer"]),
			Amount: api.Int64(200),
		})
	}},
	{name: "connected customer", keep: "their customer", do: func(sc *client.API, id ids) (any, error) {
		p := &api.CustomerParams{Email: api.String("client@example.com")}
		p.SetStripeAccount(id["account"])
		return sc.Customers.New(p)
	}},
	{name: "connected price", keep: "their price", do: func(sc *client.API, id ids) (any, error) {
		p := &api.PriceParams{
			Currency: api.String("usd"), UnitAmount: api.Int64(4900),
			ProductData: &api.PriceProductDataParams{Name: api.String("Resold")},
			Recurring:   &api.PriceRecurringParams{Interval: api.String("month")},
		}
		p.SetStripeAccount(id["account"])
		return sc.Prices.New(p)
	}},
	{name: "connected subscription", keep: "their subscription", do: func(sc *client.API, id ids) (any, error) {
		p := &api.SubscriptionParams{
			Customer:              api.String(id["their customer"]),
			Items:                 []*api.SubscriptionItemsParams{{Price: api.String(id["their price"])}},
			ApplicationFeePercent: api.Float64(12.5),
		}
		p.SetStripeAccount(id["account"])
		return sc.Subscriptions.New(p)
	}},
	{name: "standard account", keep: "standard", do: func(sc *client.API, id ids) (any, error) {
		p := &api.AccountParams{Type: api.String("standard")}
		p.AddMetadata("org_id", "0192")
		p.SetIdempotencyKey("acct:0193")
		return sc.Accounts.New(p)
	}},
	{name: "standard account link", do: func(sc *client.API, id ids) (any, error) {
		return sc.AccountLinks.New(&api.AccountLinkParams{
			Account: api.String(id["standard"]), RefreshURL: api.String("https://crm.example.com/again"),
			ReturnURL: api.String("https://crm.example.com/done"), Type: api.String("account_onboarding"),
		})
	}},
	{name: "accounts", do: func(sc *client.API, id ids) (any, error) {
		it := sc.Accounts.List(&api.AccountListParams{CreatedRange: &api.RangeQueryParams{GreaterThanOrEqual: 1}})
		return it.AccountList(), it.Err()
	}},
	{name: "sold subscription", keep: "sold", do: func(sc *client.API, id ids) (any, error) {
		p := &api.SubscriptionParams{
			Customer:         api.String(id["their customer"]),
			Items:            []*api.SubscriptionItemsParams{{Price: api.String(id["their price"])}},
			CollectionMethod: api.String("send_invoice"), DaysUntilDue: api.Int64(14),
		}
		p.AddExtra("application_fee_percent", "2.75")
		p.AddMetadata("fee_bps", "275")
		p.SetStripeAccount(id["account"])
		return sc.Subscriptions.New(p)
	}},
	{name: "sold subscription without a fee", do: func(sc *client.API, id ids) (any, error) {
		p := &api.SubscriptionParams{}
		p.AddExtra("application_fee_percent", "0")
		p.AddMetadata("fee_bps", "0")
		p.SetStripeAccount(id["account"])
		return sc.Subscriptions.Update(id["sold"], p)
	}},
	{name: "connected invoices", do: func(sc *client.API, id ids) (any, error) {
		p := &api.InvoiceListParams{Subscription: api.String(id["their subscription"])}
		p.SetStripeAccount(id["account"])
		it := sc.Invoices.List(p)
		if list := it.InvoiceList(); id["their charge"] == "" && list != nil && len(list.Data) > 0 &&
			list.Data[0].Charge != nil {
			id["their charge"] = list.Data[0].Charge.ID
		}
		return it.InvoiceList(), it.Err()
	}},
	{name: "connected charge", do: func(sc *client.API, id ids) (any, error) {
		p := &api.ChargeParams{}
		p.AddExpand("balance_transaction")
		p.AddExpand("invoice")
		p.AddExpand("refunds.data.balance_transaction")
		p.SetStripeAccount(id["account"])
		got, err := sc.Charges.Get(id["their charge"], p)
		if err == nil && got.BalanceTransaction != nil && id["transaction"] == "" {
			id["transaction"] = got.BalanceTransaction.ID
		}
		if err == nil && got.ApplicationFee != nil && id["fee"] == "" {
			id["fee"] = got.ApplicationFee.ID
		}
		return got, err
	}},
	{name: "connected events", do: func(sc *client.API, id ids) (any, error) {
		p := &api.EventListParams{CreatedRange: &api.RangeQueryParams{GreaterThanOrEqual: 1}}
		p.SetStripeAccount(id["account"])
		it := sc.Events.List(p)
		return it.EventList(), it.Err()
	}},
	{name: "balance transaction", do: func(sc *client.API, id ids) (any, error) {
		p := &api.BalanceTransactionParams{}
		p.SetStripeAccount(id["account"])
		return sc.BalanceTransactions.Get(id["transaction"], p)
	}},
	{name: "connected refund", do: func(sc *client.API, id ids) (any, error) {
		p := &api.RefundParams{
			Charge: api.String(id["their charge"]), Amount: api.Int64(100),
			RefundApplicationFee: api.Bool(true),
		}
		p.SetStripeAccount(id["account"])
		return sc.Refunds.New(p)
	}},
	{name: "application fee", do: func(sc *client.API, id ids) (any, error) {
		return sc.ApplicationFees.Get(id["fee"], nil)
	}},
	{name: "application fees", do: func(sc *client.API, id ids) (any, error) {
		it := sc.ApplicationFees.List(&api.ApplicationFeeListParams{})
		return it.ApplicationFeeList(), it.Err()
	}},
	{name: "subscription cancel", do: func(sc *client.API, id ids) (any, error) {
		return sc.Subscriptions.Cancel(id["subscription"], nil)
	}},
}

func priceOf(id ids, key string, unit int64, interval string) *api.PriceParams {
	p := &api.PriceParams{
		Product: api.String(id["product"]), Currency: api.String("usd"), UnitAmount: api.Int64(unit),
		LookupKey: api.String(key), TransferLookupKey: api.Bool(true),
		Nickname: api.String(key), Recurring: &api.PriceRecurringParams{Interval: api.String(interval)},
	}
	p.AddMetadata("catalog_version", "1")
	return p
}
