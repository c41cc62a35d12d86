package stripe

import "net/http"

// routeTable returns the routes of the sandbox. Any other request is a 404 that names the route.
func (s *Sandbox) routeTable() *http.ServeMux {
	mux := http.NewServeMux()
	for route, h := range map[string]handler{
		"POST /v1/customers": createCustomer,
		"GET /v1/customers": listObjects[customer]("/v1/customers",
			"email"),
		"GET /v1/customers/search":                     searchCustomers,
		"GET /v1/customers/{id}":                       getCustomer,
		"POST /v1/customers/{id}":                      updateCustomer,
		"DELETE /v1/customers/{id}":                    deleteCustomer,
		"POST /v1/customers/{id}/balance_transactions": createBalance,
		"GET /v1/customers/{id}/balance_transactions":  listBalance,
		"GET /v1/customers/{id}/payment_methods":       listCards,
		"POST /v1/products":                            createProduct,
		"GET /v1/products": listObjects[product]("/v1/products",
			"active"),
		"GET /v1/products/{id}":  getObject[product],
		"POST /v1/products/{id}": updateProduct,
		"POST /v1/prices":        createPrice,
		"GET /v1/prices": listObjects[price]("/v1/prices", "product", "active", "lookup_keys",
			"type", "currency"),
		"GET /v1/prices/{id}":      getObject[price],
		"POST /v1/prices/{id}":     updatePrice,
		"POST /v1/payment_methods": createCard,
		"GET /v1/payment_methods": listObjects[card]("/v1/payment_methods",
			"customer", "type"),
		"GET /v1/payment_methods/{id}":                 getObject[card],
		"POST /v1/payment_methods/{id}/attach":         attachCard,
		"POST /v1/payment_methods/{id}/detach":         detachCard,
		"POST /v1/subscriptions":                       createSubscription,
		"GET /v1/subscriptions":                        listSubscriptions,
		"GET /v1/subscriptions/{id}":                   getObject[subscription],
		"POST /v1/subscriptions/{id}":                  updateSubscription,
		"DELETE /v1/subscriptions/{id}":                cancelSubscription,
		"GET /v1/subscription_items":                   listItems,
		"POST /v1/subscription_schedules":              createSchedule,
		"GET /v1/subscription_schedules":               listObjects[schedule]("/v1/subscription_schedules", "customer"),
		"GET /v1/subscription_schedules/{id}":          getObject[schedule],
		"POST /v1/subscription_schedules/{id}":         updateSchedule,
		"POST /v1/subscription_schedules/{id}/release": releaseSchedule,
		"POST /v1/subscription_schedules/{id}/cancel":  cancelSchedule,
		"POST /v1/invoices":                            createInvoice,
		"GET /v1/invoices": listObjects[invoice]("/v1/invoices", "customer", "subscription",
			"status", "collection_method"),
		"GET /v1/invoices/{id}":                     getUpcomingOrInvoice,
		"GET /v1/invoices/{id}/lines":               invoiceLines,
		"POST /v1/invoices/{id}":                    updateInvoice,
		"DELETE /v1/invoices/{id}":                  deleteInvoice,
		"POST /v1/invoices/{id}/finalize":           finalizeInvoice,
		"POST /v1/invoices/{id}/pay":                payInvoice,
		"POST /v1/invoices/{id}/void":               voidInvoice,
		"POST /v1/invoices/{id}/mark_uncollectible": markUncollectible,
		"POST /v1/invoiceitems":                     createItem,
		"GET /v1/invoiceitems": listObjects[invoiceItem]("/v1/invoiceitems", "customer", "invoice",
			"pending"),
		"GET /v1/invoiceitems/{id}":    getObject[invoiceItem],
		"DELETE /v1/invoiceitems/{id}": deleteItem,
		"POST /v1/payment_intents":     createIntent,
		"GET /v1/payment_intents": listObjects[intent]("/v1/payment_intents",
			"customer"),
		"GET /v1/payment_intents/{id}":          getObject[intent],
		"POST /v1/payment_intents/{id}/confirm": confirmIntent,
		"POST /v1/payment_intents/{id}/cancel":  cancelIntent,
		"GET /v1/charges": listObjects[charge]("/v1/charges", "customer",
			"payment_intent"),
		"GET /v1/charges/{id}": getObject[charge],
		"POST /v1/refunds":     createRefund,
		"GET /v1/refunds": listObjects[refund]("/v1/refunds", "charge",
			"payment_intent"),
		"GET /v1/refunds/{id}":               getObject[refund],
		"GET /v1/events":                     listEvents,
		"GET /v1/events/{id}":                getObject[event],
		"POST /v1/webhook_endpoints":         createEndpoint,
		"GET /v1/webhook_endpoints":          listObjects[endpoint]("/v1/webhook_endpoints"),
		"GET /v1/webhook_endpoints/{id}":     getObject[endpoint],
		"POST /v1/webhook_endpoints/{id}":    updateEndpoint,
		"DELETE /v1/webhook_endpoints/{id}":  deleteEndpoint,
		"POST /v1/billing_portal/sessions":   createPortal,
		"POST /v1/accounts":                  createAccount,
		"GET /v1/accounts":                   listObjects[account]("/v1/accounts"),
		"GET /v1/accounts/{id}":              getAccount,
		"POST /v1/accounts/{id}":             updateAccount,
		"DELETE /v1/accounts/{id}":           deleteAccount,
		"POST /v1/accounts/{id}/login_links": createLoginLink,
		"POST /v1/account_links":             createAccountLink,
		"GET /v1/application_fees": listObjects[fee]("/v1/application_fees",
			"charge"),
		"GET /v1/application_fees/{id}":          getObject[fee],
		"POST /v1/application_fees/{id}/refunds": refundFee,
		"GET /v1/balance_transactions/{id}":      getObject[balanceTransaction],
		"POST /v1/transfers":                     createTransfer,
		"GET /v1/transfers": listObjects[transfer]("/v1/transfers",
			"destination", "transfer_group"),
		"GET /v1/transfers/{id}":            getObject[transfer],
		"POST /v1/transfers/{id}/reversals": reverseTransfer,
	} {
		mux.HandleFunc(route, s.routeHandler(route, h))
	}

	mux.HandleFunc("/", s.routeHandler("", func(_ *tx, c *call) (any, *problem) {
		return nil,
			&problem{
				Status: http.StatusNotFound, Type: "invalid_request_error",
				Message: "Unrecognized request URL (" + c.r.Method + ": " + c.r.URL.Path +
					"). The sandbox does not have it.",
			}
	}))

	return mux
}

func listBalance(tx *tx, c *call) (any, *problem) {
	cus := mustFind[customer](tx, "customer", c.pathID())
	return renderList[balanceEntry](tx, c, "/v1/customers/"+cus.ID+"/balance_transactions",
		Query{All: []string{indexKey("customer", cus.ID)}}, nil), nil
}

func listCards(tx *tx, c *call) (any, *problem) {
	cus := mustFind[customer](tx, "customer", c.pathID())
	c.enumValue("type", "card")
	return renderList[card](tx, c, "/v1/customers/"+cus.ID+"/payment_methods",
		Query{All: []string{indexKey("customer", cus.ID)}}, nil), nil
}

// listSubscriptions omits ended subscriptions unless a status or all is requested.
func listSubscriptions(tx *tx, c *call) (any, *problem) {
	q := Query{}
	switch v := c.text("status"); v {
	case "":
		q.All = append(q.All, "live=true")
	case "all":
	case "ended":
		q.Any = []string{indexKey("status", "canceled"), indexKey("status", "incomplete_expired")}
	default:
		q.All = append(q.All, indexKey("status", v))
	}

	for _, name := range []string{"customer", "price", "collection_method"} {
		if v := c.text(name); v != "" {
			q.All = append(q.All, indexKey(name, v))
		}
	}

	return renderList[subscription](tx, c, "/v1/subscriptions", q,
		parseExpand(c.texts("expand"))["data"]), nil
}

func listItems(tx *tx, c *call) (any, *problem) {
	s := mustFind[subscription](tx, "subscription", c.requiredText("subscription"))
	c.number("limit")
	return listResponse("/v1/subscription_items", false,
		tx.renderItems(s.ID, s.Own.Items, parseExpand(c.texts("expand"))["data"])), nil
}
