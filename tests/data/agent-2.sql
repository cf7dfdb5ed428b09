CREATE TABLE lowregret_agents (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    head text NOT NULL,
    base bigint DEFAULT 0 NOT NULL
);
ALTER TABLE lowregret_agents ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME lowregret_agents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE lowregret_log (
    agent bigint NOT NULL,
    "position" bigint NOT NULL,
    kind text NOT NULL,
    decision bigint,
    arm text,
    reward double precision,
    "time" bigint,
    propensity double precision,
    drawn bigint,
    request text,
    key text,
    "timestamp" double precision,
    call uuid
);
CREATE TABLE lowregret_snapshots (
    agent bigint NOT NULL,
    "position" bigint NOT NULL,
    text text NOT NULL
);
CREATE TABLE lowregret_store (
    format integer NOT NULL
);
INSERT INTO lowregret_agents OVERRIDING SYSTEM VALUE VALUES (1, 'default', '{"format": 2, "agent": "8471bd8b175a04f48862dd2ff97d74d9", "made_with": {"policy": {"class": "EUCBV", "parameters": {"rho": 0.1, "psi": null, "width": "paper"}}, "arms": ["red", "green", "blue \u00e9"], "horizon": null, "seed": 2018, "reward_range": [-1.0, 3.0], "outside": "clip", "matures_after": null, "expires_after": null, "default_reward": null, "minimum_share": 0.0, "control": null, "log_propensities": null}, "name": "default"}', 0);
INSERT INTO lowregret_log VALUES (1, 1, 'asked', 1, 'blue é', NULL, 1, 1, 0, NULL, '8c845c468a46544ccc703cf1b0254d78', 1794845737.2431893, 'c9291823-5461-40c8-9d8e-9437e8ae53af');
INSERT INTO lowregret_log VALUES (1, 2, 'told', 1, NULL, -0.7, NULL, NULL, NULL, NULL, NULL, 1794845737.2464232, '2fe787f1-6e22-4d3d-8346-c04c143bdf23');
INSERT INTO lowregret_log VALUES (1, 3, 'asked', 2, 'red', NULL, 2, 1, 0, NULL, 'ebc8acd47094ca5b95e7a78417c7fa03', 1794845737.2479522, '1c2216ea-3e39-4055-be65-20959de4a9c3');
INSERT INTO lowregret_log VALUES (1, 4, 'told', 2, NULL, 0.30000000000000004, NULL, NULL, NULL, NULL, NULL, 1794845737.2506661, '18f836ae-c30e-422e-922a-3ba4dd6c07a6');
INSERT INTO lowregret_log VALUES (1, 5, 'asked', 3, 'green', NULL, 3, 1, 0, NULL, '2598de823ae0cac1f348d1fc8aa6a71b', 1794845737.251739, '87bb5b1d-1316-4d2a-a567-cd0b8dcbb037');
INSERT INTO lowregret_log VALUES (1, 6, 'told', 3, NULL, 1.3, NULL, NULL, NULL, NULL, NULL, 1794845737.2545986, 'e8e31be6-85a6-4502-8903-1623c453c4c4');
INSERT INTO lowregret_log VALUES (1, 7, 'asked', 4, 'green', NULL, 4, 1, 0, NULL, 'a803706b5f21d68877200584eb53b6f2', 1794845737.2555542, '17bfc583-da82-4262-af1a-813a1f27a3b3');
INSERT INTO lowregret_log VALUES (1, 8, 'told', 4, NULL, 2.3, NULL, NULL, NULL, NULL, NULL, 1794845737.258633, '5858e6f8-d20d-4b72-9efb-b66d7a67ed9c');
INSERT INTO lowregret_log VALUES (1, 9, 'asked', 5, 'green', NULL, 5, 1, 0, NULL, '7528ccb4d08bd682dfe54a04ac8a0850', 1794845737.262897, '3777c8a2-a67b-4391-a8db-828e47f16e26');
INSERT INTO lowregret_log VALUES (1, 10, 'told', 5, NULL, 3.3, NULL, NULL, NULL, NULL, NULL, 1794845737.2637825, '9b07b201-50dd-4eb4-bd83-4c17208cd748');
INSERT INTO lowregret_log VALUES (1, 11, 'asked', 6, 'green', NULL, 6, 1, 0, NULL, 'b57d82dd2bd7e0f6f03311405809c81b', 1794845737.2646668, '749080d3-cfe9-47ed-8117-79dfbeac0ca3');
INSERT INTO lowregret_log VALUES (1, 12, 'told', 6, NULL, -0.7, NULL, NULL, NULL, NULL, NULL, 1794845737.265515, '8411adfd-f8c8-45bb-98eb-f7f28b783ee4');
INSERT INTO lowregret_log VALUES (1, 13, 'asked', 7, 'red', NULL, 7, 1, 0, NULL, '3c40ac4a38d5d6140d92dba5e64ba41e', 1794845737.2663555, '2f80ce0f-d421-4524-bb18-7704ef355a40');
INSERT INTO lowregret_log VALUES (1, 14, 'told', 7, NULL, 0.30000000000000004, NULL, NULL, NULL, NULL, NULL, 1794845737.2748373, '615733c5-fec1-4d89-9d68-1a46846ced54');
INSERT INTO lowregret_log VALUES (1, 15, 'asked', 8, 'green', NULL, 8, 1, 0, NULL, '13becb45855174df672095e86a092caf', 1794845737.2759688, '6a1a9759-f3fa-4675-9e8d-05e80bdbbd91');
INSERT INTO lowregret_log VALUES (1, 16, 'told', 8, NULL, 1.3, NULL, NULL, NULL, NULL, NULL, 1794845737.2768357, 'd508995c-d5f0-432b-b36d-2553b794fc3a');
INSERT INTO lowregret_log VALUES (1, 17, 'asked', 9, 'green', NULL, 9, 1, 0, NULL, '8e14a28d143ba463437036d449d28f7d', 1794845737.2780755, 'a9f85bf2-b1b4-4a22-a3d4-d841c474838e');
INSERT INTO lowregret_log VALUES (1, 18, 'told', 9, NULL, 2.3, NULL, NULL, NULL, NULL, NULL, 1794845737.2789116, 'c2d4e81b-363b-4437-9c15-aed7b43192ae');
INSERT INTO lowregret_log VALUES (1, 19, 'asked', 10, 'green', NULL, 10, 1, 0, NULL, '199dd86106bf6edc8fef3017e48794dd', 1794845737.2828948, 'beb599fb-b23f-44c0-95df-1db5806c436d');
INSERT INTO lowregret_log VALUES (1, 20, 'told', 10, NULL, 3.3, NULL, NULL, NULL, NULL, NULL, 1794845737.2837377, 'ab1f0054-37f0-430e-9ad2-99735e87d6d0');
INSERT INTO lowregret_log VALUES (1, 21, 'asked', 11, 'green', NULL, 11, 1, 0, NULL, '56316f18799afcad013fc40b833b3160', 1794845737.2845411, 'c2508b25-02e6-47d0-978b-a4bcc7b37418');
INSERT INTO lowregret_log VALUES (1, 22, 'told', 11, NULL, -0.7, NULL, NULL, NULL, NULL, NULL, 1794845737.2852423, '3b71789f-6ffd-4dff-9d0e-c73065a5e3ee');
INSERT INTO lowregret_log VALUES (1, 23, 'asked', 12, 'green', NULL, 12, 1, 0, NULL, '3b4e2775e1fe0358c457e84424995f6c', 1794845737.2904139, '57f86810-9cb8-428c-bfa4-da8e27940041');
INSERT INTO lowregret_log VALUES (1, 24, 'told', 12, NULL, 0.30000000000000004, NULL, NULL, NULL, NULL, NULL, 1794845737.2914157, 'abefbc6d-3ddc-4f64-90c4-f7e7aa8922c6');
INSERT INTO lowregret_log VALUES (1, 25, 'asked', 13, 'red', NULL, 13, 1, 0, NULL, '0af76f09b9e1d007e6fd686858b72652', 1794845737.2923067, 'fb220088-c587-4467-b937-ecb201d61b35');
INSERT INTO lowregret_log VALUES (1, 26, 'told', 13, NULL, 1.3, NULL, NULL, NULL, NULL, NULL, 1794845737.2936869, 'b9e118ef-7429-4592-a0f2-623e5fba813b');
INSERT INTO lowregret_log VALUES (1, 27, 'asked', 14, 'red', NULL, 14, 1, 0, NULL, '7ed739dba78f8df436323eefb51fd2a6', 1794845737.2945566, 'f7dafed2-aa18-4c30-b661-6b00bc7c0a7f');
INSERT INTO lowregret_log VALUES (1, 28, 'told', 14, NULL, 2.3, NULL, NULL, NULL, NULL, NULL, 1794845737.2985244, '5acce6c7-9773-4c0a-a201-8c9247b4a68f');
INSERT INTO lowregret_log VALUES (1, 29, 'asked', 15, 'red', NULL, 15, 1, 0, 'visits', '749c4bb92a1b29dfe05d69acbac13374', 1794845737.2996078, '3823db9e-9ffe-4fe9-a71e-774bbc453c9d');
INSERT INTO lowregret_log VALUES (1, 30, 'asked', 16, 'red', NULL, 16, 1, 0, 'visits', '76d23505840738f8fa3cd6a3f74604bb', 1794845737.2996078, NULL);
INSERT INTO lowregret_log VALUES (1, 31, 'asked', 17, 'green', NULL, 17, 1, 0, 'visits', 'e22b2a960ee1cdebb2aff8148fd5e610', 1794845737.2996078, NULL);
INSERT INTO lowregret_log VALUES (1, 32, 'asked', 18, 'blue é', NULL, 18, 1, 0, 'visits', '81d2b82c4fa2d56580dfa20cfded1f1d', 1794845737.2996078, NULL);
INSERT INTO lowregret_log VALUES (1, 33, 'asked', 19, 'green', NULL, 19, 1, 0, 'visits', 'fdc9f6db275afa3174a2681221974e5f', 1794845737.2996078, NULL);
INSERT INTO lowregret_log VALUES (1, 34, 'told', 17, NULL, 0.1, NULL, NULL, NULL, NULL, NULL, 1794845737.3039982, '11527d5f-20af-4601-8c55-7838f74f2f39');
INSERT INTO lowregret_log VALUES (1, 35, 'told', 18, NULL, 0.1, NULL, NULL, NULL, NULL, NULL, 1794845737.3039982, NULL);
INSERT INTO lowregret_log VALUES (1, 36, 'told', 19, NULL, 0.1, NULL, NULL, NULL, NULL, NULL, 1794845737.3039982, NULL);
INSERT INTO lowregret_log VALUES (1, 37, 'added', NULL, 'yellow', NULL, NULL, NULL, NULL, NULL, NULL, 1794845737.3068495, 'f7afec1b-4171-402f-85dc-95c947f59016');
INSERT INTO lowregret_log VALUES (1, 38, 'retired', NULL, 'green', NULL, NULL, NULL, NULL, NULL, NULL, 1794845737.3077805, '6fdd2686-8cc0-43c4-be29-6b859904c004');
INSERT INTO lowregret_log VALUES (1, 39, 'conflict', 17, NULL, 1, NULL, NULL, NULL, NULL, NULL, 1794845737.3109002, 'a6b26c16-7dc6-40a5-997b-272dd5d189d7');
INSERT INTO lowregret_log VALUES (1, 40, 'forgot', 16, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1794845737.3116214, '3dbf7876-3bf1-495f-9ee1-2fcdea7f059b');
INSERT INTO lowregret_log VALUES (1, 41, 'asked', 20, 'yellow', NULL, 19, 1, 0, NULL, '529c958c69a75a32051ac93fc5a6fe2c', 1794845737.323373, 'ecd4be58-bf8a-4040-85d1-88d248551440');
INSERT INTO lowregret_log VALUES (1, 42, 'told', 20, NULL, 0, NULL, NULL, NULL, NULL, NULL, 1794845737.3278575, 'a4b4c85d-a7ec-4ccd-9de4-bd91c8a09c66');
INSERT INTO lowregret_log VALUES (1, 43, 'asked', 21, 'yellow', NULL, 20, 1, 0, NULL, '826c46f53a26649a6b0f75bcbcab129b', 1794845737.3287668, 'cbdb58c4-d500-4123-aabf-347e4a95ee53');
INSERT INTO lowregret_log VALUES (1, 44, 'told', 21, NULL, 0.3333333333333333, NULL, NULL, NULL, NULL, NULL, 1794845737.3295486, '69362010-a9f6-4d8b-be6d-4d8e3edee744');
INSERT INTO lowregret_log VALUES (1, 45, 'asked', 22, 'red', NULL, 21, 1, 0, NULL, 'f183bf0de1422a012395b0cabe97a4a8', 1794845737.3304906, 'b1b45fb2-e72c-45d6-b333-dbafb47049c2');
INSERT INTO lowregret_log VALUES (1, 46, 'told', 22, NULL, 0.6666666666666666, NULL, NULL, NULL, NULL, NULL, 1794845737.334882, '16022141-ae76-473b-bd5f-9c0dc047a79f');
INSERT INTO lowregret_log VALUES (1, 47, 'asked', 23, 'yellow', NULL, 22, 1, 0, NULL, '81332bd9c1ab7cceb5310773bca676a3', 1794845737.3358004, '7aaf6c12-2603-4232-afe3-d974c659a6d8');
INSERT INTO lowregret_log VALUES (1, 48, 'told', 23, NULL, 1, NULL, NULL, NULL, NULL, NULL, 1794845737.336528, '8ca63237-b1a5-40a6-b50f-c92d1a5837f0');
INSERT INTO lowregret_log VALUES (1, 49, 'asked', 24, 'red', NULL, 23, 1, 0, NULL, '157ae7aeee3f26c8260891aef4b4f429', 1794845737.3372607, '9f47dc29-024b-4f74-b6d4-bd440e39c09a');
INSERT INTO lowregret_log VALUES (1, 50, 'told', 24, NULL, 1.3333333333333333, NULL, NULL, NULL, NULL, NULL, 1794845737.337946, 'c0bc8da8-2c7d-49ea-ac0c-31fa39ca8888');
INSERT INTO lowregret_log VALUES (1, 51, 'asked', 25, 'red', NULL, 24, 1, 0, NULL, '43e85f3fce31241f1926f0e0973f3c5d', 1794845737.34283, '368bfe48-2bb4-44c6-a57f-323dfc1e32d2');
INSERT INTO lowregret_log VALUES (1, 52, 'told', 25, NULL, 1.6666666666666667, NULL, NULL, NULL, NULL, NULL, 1794845737.343808, '18fc4390-cebe-4e87-a2c4-6c3033ef3885');
INSERT INTO lowregret_log VALUES (1, 53, 'asked', 26, 'red', NULL, 25, 1, 0, NULL, '3f71a14c4800cd810dcefd4e7802b61d', 1794845737.3446875, '37cb6477-d5f9-4cd5-9eeb-6a5e59bbc528');
INSERT INTO lowregret_log VALUES (1, 54, 'told', 26, NULL, 2, NULL, NULL, NULL, NULL, NULL, 1794845737.345592, '9798c13f-7ae3-4890-a742-d8ac5bb834d2');
INSERT INTO lowregret_log VALUES (1, 55, 'asked', 27, 'red', NULL, 26, 1, 0, NULL, '6095a6fbad75ca2b40b4374e65efcc17', 1794845737.3465154, '9f32e227-b710-4e9b-99e5-6526eac1d66f');
INSERT INTO lowregret_log VALUES (1, 56, 'told', 27, NULL, 2.3333333333333335, NULL, NULL, NULL, NULL, NULL, 1794845737.347222, '64a76a5a-7c9b-4e0c-acd6-f7b417ffa6a4');
INSERT INTO lowregret_log VALUES (1, 57, 'told', 15, NULL, 2.9, NULL, NULL, NULL, NULL, NULL, 1794845737.348411, '04e43067-cf03-4165-9e47-9329e534e08f');
INSERT INTO lowregret_log VALUES (1, 58, 'asked', 28, 'red', NULL, 27, 1, 0, 'left', 'aedc7f62e1cf667d49d3346ed80970e0', 1794845737.3498063, 'feee21ef-3719-4a85-ad9f-4b5b43a1643d');
INSERT INTO lowregret_log VALUES (1, 59, 'asked', 29, 'red', NULL, 28, 1, 0, 'left', 'e55c95368ef9a53c33f5049aea9b1feb', 1794845737.3498063, NULL);
INSERT INTO lowregret_log VALUES (1, 60, 'asked', 30, 'red', NULL, 29, 1, 0, 'left', '101bf5efb46156732e4f7bf58e263e18', 1794845737.3498063, NULL);
INSERT INTO lowregret_snapshots VALUES (1, 40, '4ca64f23e85e338b86f60450a113e8c8eb4690ea8900eb58fc9330ae2fabfa50
{"format": 2, "lowregret": "0.1.0", "agent": "8471bd8b175a04f48862dd2ff97d74d9", "made_with": {"policy": {"class": "EUCBV", "parameters": {"rho": 0.1, "psi": null, "width": "paper"}}, "arms": ["red", "green", "blue é"], "horizon": null, "seed": 2018, "reward_range": [-1.0, 3.0], "outside": "clip", "matures_after": null, "expires_after": null, "default_reward": null, "minimum_share": 0.0, "control": null, "log_propensities": null}, "epoch": 0, "horizon": 1000, "asked": 19, "told": 17, "drawn": 0, "discarded": 1, "conflicts": 1, "matured": 0, "round": {"number": 0, "until": 18, "epsilon": 1.0, "width": 11.618285980628055, "scale": 111111.11111111111, "reach": 111111.11111111111, "last": 4}, "arms": {"name": ["blue é", "red", "yellow"], "number": [2, 0, 3], "pulls": [2, 4, 0], "reset": [0, 0, 0], "origin": [0.07500000000000001, 0.325, 0.0], "total": [0.2, 0.7499999999999999, 0.0], "squares": [0.04000000000000001, 0.3124999999999999, 0.0], "eliminated": [0, 0, 0], "active": [true, true, true], "listed": [false, false, false]}, "retired": {"name": ["green"], "number": [1], "pulls": [11], "reset": [0], "origin": [0.575], "total": [-0.49999999999999967], "squares": [1.2287499999999998], "eliminated": [0], "active": [true], "listed": [false]}, "pending": {"id": ["749c4bb92a1b29dfe05d69acbac13374-15"], "arm": ["red"], "time": [15], "propensity": [1.0], "timestamp": [1794845737.2996078]}, "early": {}, "answers": {}, "requests": {}}');
INSERT INTO lowregret_store VALUES (2);
SELECT pg_catalog.setval('lowregret_agents_id_seq', 1, true);
ALTER TABLE ONLY lowregret_agents
    ADD CONSTRAINT lowregret_agents_name_key UNIQUE (name);
ALTER TABLE ONLY lowregret_agents
    ADD CONSTRAINT lowregret_agents_pkey PRIMARY KEY (id);
ALTER TABLE ONLY lowregret_log
    ADD CONSTRAINT lowregret_log_pkey PRIMARY KEY (agent, "position");
ALTER TABLE ONLY lowregret_snapshots
    ADD CONSTRAINT lowregret_snapshots_pkey PRIMARY KEY (agent, "position");
CREATE UNIQUE INDEX lowregret_answered ON lowregret_log USING btree (agent, decision) WHERE (kind = ANY (ARRAY['told'::text, 'forgot'::text]));
CREATE UNIQUE INDEX lowregret_asked ON lowregret_log USING btree (agent, decision) WHERE (kind = 'asked'::text);
CREATE INDEX lowregret_requested ON lowregret_log USING btree (agent, "left"(request, 200)) WHERE (request IS NOT NULL);
