// Runs before the first paint. Without a choice the theme is the system's, which needs no script.
try {
  const theme = localStorage.getItem('theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
} catch {
  // Storage is off: the system's theme.
}
