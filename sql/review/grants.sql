-- Row-level security shows a login only the proposals of the spaces that its actor reviews.
grant select on textrawl.proposal to textrawl_analyst;
grant execute on function textrawl.session_reviews to textrawl_analyst;
