const form = document.querySelector('form'), say = document.querySelector('[role=status]');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const button = form.querySelector('button');
  button.disabled = true;
  say.textContent = '';
  try {
    const answer = await fetch('/api/v1/auth/login', {
      method: 'POST', credentials: 'omit', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: form.elements.email.value, password: form.elements.password.value }),
    });
    const body = await answer.json();
    if (!answer.ok) {
      say.textContent = body.detail;
      return;
    }
    sessionStorage.setItem('session', JSON.stringify(body));
    form.hidden = true;
    say.textContent = 'You are signed in to ' + body.org.name + ' as ' + body.user.email + '.';
  } catch {
    say.textContent = 'The service cannot be reached. Try again shortly.';
  } finally {
    button.disabled = false;
    form.elements.password.value = '';
  }
});
