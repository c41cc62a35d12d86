package api

import "github.com/gofiber/fiber/v2"

// limit counts the request against its org.
func (a *App) limit(c *fiber.Ctx, r *request) error {
	return nil
}
