"""The tenant's REST API over the manager's database.

Built on falcon: in OpenStack's requirements (Zaqar's framework), maintained, no dependencies of its
own, a class a noun, and strict where WebOb with Routes leaves the HTTP to us and Flask brings
templates and sessions that an API has no use for. What surrounds it is OpenStack's own:
keystonemiddleware, oslo.policy, oslo.middleware, microversion-parse.

`endpoint` turns a method into an answer to a request: who asks, may they, is what they say valid.
The same description of a method makes the OpenAPI document, so that the two cannot disagree.
"""
