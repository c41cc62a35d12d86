import { Navigate } from '@tanstack/react-router';
import { useNav } from './nav';

/** Start leads on to the first place that the user's role sees. */
export function Start() {
  const [first] = useNav();
  return first === undefined || first.to === '/app' ? null : <Navigate to={first.to} replace />;
}
